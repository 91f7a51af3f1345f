import Foundation
import LMDB

/// A damaged copy of a file, with the kind and position of the damage. The same seed and number
/// produce the same damage.
struct Damage {
  enum Kind: String, CaseIterable {
    case bit, byte, rootBit, headerBit, zeroSector, zeroPage, swappedPages, stalePage
    case cutAtPage, cutAnywhere, nodeBit, freeListBit, garbageTail
  }

  static let pageSize = 4096

  let kind: Kind
  private(set) var position = 0
  private(set) var bytes: [UInt8]
  private var random: SplitMix

  /// Damages a copy of `sound`. `older` is the same file as of some commits earlier.
  init(_ number: Int, seed: UInt64, sound: [UInt8], older: [UInt8]) {
    kind = Kind.allCases[number % Kind.allCases.count]
    bytes = sound
    random = SplitMix(state: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
    let page = random.below(2, sound.count / Self.pageSize) * Self.pageSize
    switch kind {
    case .bit: flip(random.below(0, sound.count))
    case .byte:
      position = random.below(0, sound.count)
      bytes[position] = UInt8(random.below(0, 256))
    case .rootBit:
      // Bits are flipped in order, so that a long campaign covers all of them.
      var bit = number / Kind.allCases.count % (2 * 152 * 8)
      // Bit 1 of this field may undo a commit just as a failed write does, which is not damage.
      if bit % (152 * 8) == 144 * 8 + 1, word(bit / (152 * 8) * Self.pageSize + 144) & 2 != 0 {
        bit += 1
      }
      position = bit / (152 * 8) * Self.pageSize + bit % (152 * 8) / 8
      bytes[position] ^= 1 << (bit % 8)
    case .headerBit: flip(page + random.below(0, 16))
    case .zeroSector: fill(random.below(0, sound.count / 512) * 512, 512)
    case .zeroPage: fill(page, Self.pageSize)
    case .swappedPages:
      let other = random.below(2, sound.count / Self.pageSize) * Self.pageSize
      copy(sound, other, to: page)
      copy(sound, page, to: other)
    case .stalePage: copy(older, page, to: page)
    case .cutAtPage: cut(page)
    case .cutAnywhere: cut(random.below(0, sound.count))
    case .nodeBit:
      let lower = Int(sound[page + 12]) | Int(sound[page + 13]) << 8
      flip(page + random.below(16, (17..<Self.pageSize).contains(lower) ? lower : Self.pageSize))
    case .freeListBit:
      let meta = word(144) > word(Self.pageSize + 144) ? 0 : Self.pageSize
      let root = word(meta + 80) &* Self.pageSize
      let start = (2 * Self.pageSize..<sound.count).contains(root) ? root : page
      let isHead = random.below(0, 2) == 0
      flip(start + (isHead ? random.below(0, 64) : random.below(3584, Self.pageSize)))
    case .garbageTail:
      position = bytes.count
      bytes += (0..<16 * Self.pageSize).map { _ in UInt8(random.below(0, 256)) }
    }
  }

  private func word(_ offset: Int) -> Int {
    (0..<8).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
  }

  private mutating func flip(_ offset: Int) {
    position = offset
    bytes[offset] ^= 1 << random.below(0, 8)
  }

  private mutating func fill(_ offset: Int, _ count: Int) {
    position = offset
    bytes.replaceSubrange(offset..<offset + count, with: repeatElement(0, count: count))
  }

  private mutating func copy(_ source: [UInt8], _ offset: Int, to target: Int) {
    position = target
    guard offset + Self.pageSize <= source.count else { return }
    bytes.replaceSubrange(
      target..<target + Self.pageSize, with: source[offset..<offset + Self.pageSize])
  }

  private mutating func cut(_ length: Int) {
    position = length
    bytes.removeSubrange(length...)
  }
}

/// A pseudorandom number generator that repeats its sequence for the same seed.
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ lower: Int, _ upper: Int) -> Int {
    lower + Int(next() % UInt64(max(1, upper - lower)))
  }
}
