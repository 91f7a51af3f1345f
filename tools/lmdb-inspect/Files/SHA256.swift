/// The hash function of FIPS 180-4, which makes masks irreversible.
struct SHA256 {
  private static let constants = fractions(of: firstPrimes(64)) { cubeRoot(of: $0) }
  private static let start = fractions(of: firstPrimes(8)) { squareRoot(of: $0) }

  /// Returns the 32 bytes of a message's hash. Linear in its length.
  static func hash(_ message: [UInt8]) -> [UInt8] {
    var bytes = message + [0x80]
    while bytes.count % 64 != 56 { bytes.append(0) }
    let bitCount = UInt64(message.count) &* 8
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(shift)))
    }
    var state = start
    for block in stride(from: 0, to: bytes.count, by: 64) {
      mix(bytes[block..<(block + 64)], into: &state)
    }
    return state.flatMap { word in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }
  }

  private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
      block[index..<(index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<64 {
      let early = words[index - 15]
      let late = words[index - 2]
      let first = rotated(early, 7) ^ rotated(early, 18) ^ (early >> 3)
      let second = rotated(late, 17) ^ rotated(late, 19) ^ (late >> 10)
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for round in 0..<64 {
      let sumE = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
      let first = h &+ sumE &+ ((e & f) ^ (~e & g)) &+ constants[round] &+ words[round]
      let sumA = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
      let second = sumA &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }

  // The standard's constants are the first 32 bits of the fractional parts of roots of primes.

  private static func firstPrimes(_ count: Int) -> [UInt64] {
    var primes: [UInt64] = []
    var candidate: UInt64 = 2
    while primes.count < count {
      if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
      candidate += 1
    }
    return primes
  }

  private static func fractions(
    of primes: [UInt64], _ root: (UInt128) -> UInt64
  ) -> [UInt32] {
    primes.map { UInt32(truncatingIfNeeded: root(UInt128($0))) }
  }

  /// Returns ⌊√n · 2³²⌋.
  private static func squareRoot(of number: UInt128) -> UInt64 {
    greatest { $0 * $0 <= number << 64 }
  }

  /// Returns ⌊∛n · 2³²⌋, which is below 2³⁵ for primes up to 311, so that its cube fits 128 bits.
  private static func cubeRoot(of number: UInt128) -> UInt64 {
    greatest { $0 * $0 * $0 <= number << 96 }
  }

  private static func greatest(_ fits: (UInt128) -> Bool) -> UInt64 {
    var root: UInt128 = 0
    for bit in stride(from: 36, through: 0, by: -1) {
      let larger = root | UInt128(1) << UInt128(bit)
      if fits(larger) { root = larger }
    }
    return UInt64(root)
  }
}
