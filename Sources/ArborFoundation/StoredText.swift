/// A string that is compared by its code points, like the strings in a store.
///
/// `String` considers canonically equivalent strings equal: composed and decomposed "é" are one key
/// of a dictionary. They are two values of a store, its indexes and its predicates. Dictionaries,
/// sets and comparisons of values therefore use this type instead of `String`.
package struct StoredText: Sendable, Hashable {
  package let text: String

  @inline(__always)
  package init(_ text: String) { self.text = text }

  package static func == (left: Self, right: Self) -> Bool {
    var (left, right) = (left.text, right.text)
    return left.withUTF8 { left in
      right.withUTF8 { right in
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        // Safe, because both buffers contain the number of bytes compared.
        return memcmp(first, second, left.count) == 0
      }
    }
  }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { bytes in
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
      // Separates consecutive strings, because 0xFF doesn't occur in UTF-8.
      hasher.combine(0xFF as UInt8)
    }
  }
}
