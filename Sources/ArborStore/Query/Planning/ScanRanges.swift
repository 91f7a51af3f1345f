internal import ArborModel

/// The ranges of one index that contain all entries its column conditions allow: equalities as a
/// prefix, then at most one range.
struct ScanRanges {
  /// The maximum number of ranges when the values of several columns are combined. Conditions on
  /// later columns are evaluated by a ``KeyFilter`` or on the records instead.
  private static let maximumRanges = 10_000

  /// The ranges in key order, non-empty and disjoint.
  private(set) var ranges: [ScanRange] = []
  /// The number of leading columns that narrow the ranges.
  private(set) var usedColumns = 0
  /// Whether a bound was truncated, so that entries in the ranges have to be checked against the
  /// record.
  private(set) var isCut = false

  private let columns: [KeyDecoder.Column]

  /// Creates the range of all keys of an index.
  init(allOf columns: [KeyDecoder.Column]) {
    self.columns = columns
    ranges = ScanRange.whole
  }

  /// - Parameter matches: The conditions on the leading columns, up to the first column without
  ///   one.
  /// - Returns: `nil` if there is no condition or a value doesn't have the column's type.
  init?(columns: [KeyDecoder.Column], matches: [ColumnMatch]) {
    self.columns = columns
    var prefixes: [[UInt8]] = [[]]
    for match in matches {
      guard case .points(let values) = match.condition else { break }
      guard usedColumns == 0 || prefixes.count * values.count <= Self.maximumRanges else { break }
      guard let longer = extend(prefixes, by: values) else { return nil }
      prefixes = longer
      usedColumns += 1
    }
    if usedColumns < matches.count, usedColumns < columns.count {
      switch matches[usedColumns].condition {
      case .points: break
      case .range(let range):
        guard let narrowed = narrow(prefixes, by: range) else { return nil }
        finish(narrowed)
        return
      case .prefix(let text):
        finish(narrow(prefixes, by: text))
        return
      }
    }
    guard usedColumns > 0 else { return nil }
    ranges = prefixes.map(ScanRange.init(beginningWith:))
  }

  /// Returns whether the ranges of conditions contain a single value of each column.
  static func arePoints(_ matches: [ColumnMatch]) -> Bool {
    var count = 1
    for (index, match) in matches.enumerated() {
      guard case .points(let values) = match.condition else { return false }
      count *= values.count
      if index > 0, count > maximumRanges { return false }
    }
    return true
  }

  private mutating func finish(_ narrowed: [ScanRange]) {
    ranges = narrowed.filter { !$0.isEmpty }
    usedColumns += 1
  }

  /// Appends each value to each prefix and returns the distinct results in order, or `nil` if a
  /// value doesn't have the column's type.
  private mutating func extend(_ prefixes: [[UInt8]], by values: [PropertyValue]) -> [[UInt8]]? {
    var result: [[UInt8]] = []
    for prefix in prefixes {
      for value in values {
        guard let bytes = bytes(prefix, value) else { return nil }
        result.append(bytes)
      }
    }
    guard result.count > 1 else { return result }
    result.sort { $0.lexicographicallyPrecedes($1) }
    var unique = result.prefix(1)
    for bytes in result.dropFirst() where bytes != unique.last { unique.append(bytes) }
    return Array(unique)
  }

  private mutating func narrow(
    _ prefixes: [[UInt8]], by range: ColumnMatch.ValueRange
  ) -> [ScanRange]? {
    var result: [ScanRange] = []
    for prefix in prefixes {
      // All values other than `nil` form one contiguous part of the keys, at the far end in either
      // direction.
      let values = bytes(prefix) { key, isAscending in
        KeyEncoder.appendAnyValue(isAscending: isAscending, to: &key)
      }
      var lower = values
      var upper = ScanRange.successor(of: values)
      if !range.lower.isNull {
        guard let bound = bound(prefix, range.lower, isIncluded: range.isLowerIncluded) else {
          return nil
        }
        if isAscending { lower = bound.above } else { upper = bound.below }
      }
      if let value = range.upper {
        guard let bound = bound(prefix, value, isIncluded: range.isUpperIncluded) else {
          return nil
        }
        if isAscending { upper = bound.below } else { lower = bound.above }
      }
      result.append(ScanRange(lower: lower, upper: upper))
    }
    return result
  }

  private mutating func narrow(_ prefixes: [[UInt8]], by text: String) -> [ScanRange] {
    prefixes.map { prefix in
      ScanRange(
        beginningWith: bytes(prefix) { key, isAscending in
          KeyEncoder.appendPrefix(text, isAscending: isAscending, to: &key)
        })
    }
  }

  /// Returns the lower bound of the keys above a value and the upper bound of the keys below it.
  /// Both include the value if `isIncluded` is set or the bound was truncated.
  private mutating func bound(
    _ prefix: [UInt8], _ value: PropertyValue, isIncluded: Bool
  ) -> (above: [UInt8], below: [UInt8]?)? {
    let wasCut = isCut
    isCut = false
    defer { isCut = isCut || wasCut }
    guard !value.isNull, let key = bytes(prefix, value), let next = ScanRange.successor(of: key)
    else { return nil }
    return (above: isIncluded || isCut ? key : next, below: isIncluded || isCut ? next : key)
  }

  private var isAscending: Bool { columns[usedColumns].isAscending }

  private mutating func bytes(_ prefix: [UInt8], _ value: PropertyValue) -> [UInt8]? {
    let kind = columns[usedColumns].kind
    var isOfKind = false
    let bytes = bytes(prefix) { key, isAscending in
      isOfKind = KeyEncoder.append(value, as: kind, isAscending: isAscending, to: &key)
    }
    return isOfKind ? bytes : nil
  }

  private mutating func bytes(
    _ prefix: [UInt8], _ append: (inout KeyBuffer, _ isAscending: Bool) -> Void
  ) -> [UInt8] {
    var key = KeyBuffer()
    prefix.withUnsafeBytes { key.append($0, mask: 0) }
    append(&key, isAscending)
    if key.isCut { isCut = true }
    return Array(key.bytes)
  }
}
