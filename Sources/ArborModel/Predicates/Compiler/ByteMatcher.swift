internal import ArborFoundation
internal import CArborBits

/// A test of a byte sequence against a constant. Code that is generic over a matcher is specialized
/// into a single closure.
protocol ByteMatcher {
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool
}

/// Constant bytes that are kept alive by the closures that use them.
///
/// The memory is written once, at creation, and freed with the object. Code that reads ``bytes``
/// must hold a reference to the object.
final class ConstantBytes {
  let bytes: UnsafeRawBufferPointer

  init(_ source: some Collection<UInt8>) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count + 1, alignment: 8)
    memory.copyBytes(from: source)
    bytes = UnsafeRawBufferPointer(rebasing: memory[..<source.count])
  }

  deinit { bytes.deallocate() }
}

struct EqualBytes: ByteMatcher {
  let constant: ConstantBytes

  @inline(__always)
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count == constant.bytes.count && bytes.starts(withBytes: constant.bytes)
  }
}

/// A matcher for bytes that start with a non-empty prefix.
struct BytePrefix: ByteMatcher {
  let constant: ConstantBytes

  @inline(__always)
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.starts(withBytes: constant.bytes)
  }
}

/// A matcher for bytes that end with a non-empty suffix.
struct ByteSuffix: ByteMatcher {
  let constant: ConstantBytes

  @inline(__always)
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let start = bytes.count - constant.bytes.count
    return start >= 0
      && UnsafeRawBufferPointer(rebasing: bytes[start...]).starts(withBytes: constant.bytes)
  }
}

/// A matcher for bytes that contain a non-empty sequence.
struct ByteInfix: ByteMatcher {
  let constant: ConstantBytes

  @inline(__always)
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let needle = constant.bytes
    return bytes.count >= needle.count
      && arbor_find(bytes.baseAddress, bytes.count, needle.baseAddress, needle.count) != nil
  }
}

/// A matcher for bytes between two bounds in byte order. Either bound can be missing.
struct ByteRange: ByteMatcher {
  let lower: ConstantBytes?
  let isLowerIncluded: Bool
  let upper: ConstantBytes?
  let isUpperIncluded: Bool

  @inline(__always)
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let lower {
      let order = Ordering(bytes: bytes, lower.bytes)
      guard order == .greater || (isLowerIncluded && order == .equal) else { return false }
    }
    if let upper {
      let order = Ordering(bytes: bytes, upper.bytes)
      guard order == .less || (isUpperIncluded && order == .equal) else { return false }
    }
    return true
  }
}

struct ByteSet: ByteMatcher {
  private let members: [ConstantBytes]

  init(_ members: [[UInt8]]) {
    let sorted = Set(members).sorted { $0.lexicographicallyPrecedes($1) }
    self.members = sorted.map { ConstantBytes($0) }
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      switch Ordering(bytes: bytes, members[middle].bytes) {
      case .equal: return true
      case .less: high = middle
      case .greater: low = middle + 1
      }
    }
    return false
  }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  func starts(withBytes prefix: UnsafeRawBufferPointer) -> Bool {
    guard count >= prefix.count else { return false }
    guard let bytes = baseAddress, let other = prefix.baseAddress, prefix.count > 0 else {
      return true
    }
    return equalBytes(bytes, other, prefix.count)
  }
}

extension ConstantBytes {
  /// Returns the matcher for bytes that are equal to, less than or greater than these, or `nil` for
  /// any other operator.
  func matcher(for comparison: ComparisonOperator) -> (any ByteMatcher)? {
    switch comparison {
    case .equal: return EqualBytes(constant: self)
    case .less, .lessOrEqual:
      return ByteRange(
        lower: nil, isLowerIncluded: false, upper: self,
        isUpperIncluded: comparison == .lessOrEqual)
    case .greater, .greaterOrEqual:
      return ByteRange(
        lower: self, isLowerIncluded: comparison == .greaterOrEqual, upper: nil,
        isUpperIncluded: false)
    default: return nil
    }
  }
}

/// Returns whether two byte sequences of the same length, at least 1, are equal.
@inline(__always)
func equalBytes(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
  // The first bytes usually differ, and comparing them is cheaper than a call.
  left.load(as: UInt8.self) == right.load(as: UInt8.self) && memcmp(left, right, count) == 0
}
