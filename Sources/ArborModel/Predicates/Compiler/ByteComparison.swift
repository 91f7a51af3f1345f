internal import Foundation

/// Whether two runs of bytes of one length, at least 1, are the same.
@inline(__always)
func equalBytes(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
  // The first bytes differ most often, and a call costs more than the look.
  left.load(as: UInt8.self) == right.load(as: UInt8.self) && memcmp(left, right, count) == 0
}
