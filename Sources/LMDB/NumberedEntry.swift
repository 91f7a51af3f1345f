package import CArborBits

/// An integer key, and where its value lies in the map: the form in which checksums of many records
/// are compared at once. Values are aligned to 2 bytes only.
package typealias NumberedEntry = arbor_record

extension NumberedEntry {
  @inline(__always)
  init(key: UInt64, value: UnsafeRawBufferPointer) {
    self.init(key: key, base: value.baseAddress, count: value.count)
  }

  package var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}
