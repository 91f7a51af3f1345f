/// A scanned document as a flat array: each value precedes its parts, and each member's key
/// precedes its value.
///
/// ```
/// {"a": [1, 2], "b": null}      object 2 · "a" · array 2 · 1 · 2 · "b" · null
/// ```
///
/// Scanning creates no objects or strings. Values are decoded only on access.
struct JSONTape: Sendable {
  /// One value or key in 12 bytes. A document that consists mostly of commas has half as many
  /// entries as bytes.
  ///
  /// ```
  /// start u32 · extent u32 · next 27 bits, form 2, kind 3
  /// ```
  struct Entry: Sendable {
    /// The offset of the value's first byte.
    var start: UInt32
    /// For scalars, the offset after the last byte. For arrays and objects, the number of elements
    /// or members.
    var extent: UInt32
    private var packed: UInt32

    /// - Precondition: `next` is less than ``JSONTape/maximumCount``.
    @inline(__always)
    init(start: UInt32, extent: UInt32, next: UInt32, kind: Kind, form: Form) {
      self.start = start
      self.extent = extent
      packed = next << 5 | UInt32(form.rawValue) << 3 | UInt32(kind.rawValue)
    }

    /// The tape index after this value and all its parts.
    @inline(__always)
    var next: UInt32 {
      get { packed >> 5 }
      set { packed = newValue << 5 | packed & 0x1F }
    }
    @inline(__always)
    var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: packed & 0x7)) ?? .object }
    @inline(__always)
    var form: Form { Form(rawValue: UInt8(truncatingIfNeeded: packed >> 3 & 0x3)) ?? .full }

    /// The byte range of a scalar.
    @inline(__always)
    var range: Range<Int> { Int(start)..<Int(extent) }
    /// The byte range of a string without its quotation marks.
    @inline(__always)
    var textRange: Range<Int> { (Int(start) + 1)..<(Int(extent) - 1) }
    @inline(__always)
    var isPlain: Bool { packed & 0x18 == 0 }
  }

  enum Kind: UInt8, Sendable {
    case null, no, yes, number, string, array, object
  }

  /// The maximum number of entries of a tape, so that an index fits in 27 bits.
  static let maximumCount = 1 << 27

  /// The form of a scalar, which determines how expensive decoding it is.
  enum Form: UInt8, Sendable {
    /// An ASCII string without escapes, or an integer of at most 18 digits without exponent.
    case plain = 0
    /// A non-ASCII string without escapes, or a number with a decimal point and no exponent.
    case simple
    case full
  }

  var entries: [Entry] = []
}
