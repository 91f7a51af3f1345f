/// Compares and hashes keys by their bytes, eight at a time.
enum JSONKeyBytes {
  @inline(__always)
  static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    var position = 0
    while position + 8 <= left.count {
      guard word(left, position) == word(right, position) else { return false }
      position += 8
    }
    while position < left.count {
      guard left[position] == right[position] else { return false }
      position += 1
    }
    return true
  }

  @inline(__always)
  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(bytes.count)
    var position = 0
    while position + 8 <= bytes.count {
      hash = mixed(hash ^ word(bytes, position))
      position += 8
    }
    var tail: UInt64 = 0
    while position < bytes.count {
      tail = tail << 8 | UInt64(bytes[position])
      position += 1
    }
    return mixed(hash ^ tail)
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> UInt64 {
    // Sound: the caller has checked that eight bytes are available.
    bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
  }

  @inline(__always)
  private static func mixed(_ word: UInt64) -> UInt64 {
    let product = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}
