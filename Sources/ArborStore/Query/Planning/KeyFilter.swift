internal import ArborModel

/// Conditions on index columns after those that narrow the ranges, evaluated on the bytes of the
/// keys: index condition pushdown. A rejected key costs no record lookup.
///
/// A truncated key is accepted if its remaining bytes do not decide the condition.
struct KeyFilter: Equatable {
  private struct Step: Equatable {
    /// The number of bytes of a value including its marker, or `nil` if a terminator ends it.
    let width: Int?
    let mask: UInt8
    /// The alternatives for the column's bytes. Empty if there is no condition on the column.
    let ranges: [ScanRange]
    /// The range, if there is only one and the column contains 64-bit numbers.
    let span: ClosedRange<UInt64>?
  }

  private static let maximumRanges = 16

  private let steps: [Step]
  /// The conjuncts that hold for every accepted key.
  let covered: [Int]

  /// - Parameters:
  ///   - matches: The conditions on the leading columns.
  ///   - usedColumns: The number of columns that already narrow the ranges.
  /// - Returns: `nil` if no further condition can be evaluated on keys.
  init?(columns: [KeyDecoder.Column], matches: [ColumnMatch], behind usedColumns: Int) {
    guard usedColumns < matches.count else { return nil }
    var steps: [Step] = []
    var covered: [Int] = []
    var isExact = true
    var usedCount = 0
    for (index, match) in matches.enumerated() {
      let column = columns[index]
      // The end of a decimal cannot be found by searching for a byte.
      guard column.kind != .decimal, column.kind != .tagged else { break }
      let width = column.kind.form.keyWidth
      isExact = isExact && width != nil
      var ranges: [ScanRange] = []
      if index >= usedColumns, match.related == nil,
        let own = ScanRanges(columns: [column], matches: [match]),
        own.ranges.count <= Self.maximumRanges, !own.ranges.isEmpty
      {
        ranges = own.ranges
        usedCount = index + 1
        if isExact, !own.isCut { covered += match.covered }
      }
      let mask = KeyEncoder.mask(isAscending: column.isAscending)
      let span = ranges.count == 1 && width == 9 ? Self.span(ranges[0], mask: mask) : nil
      steps.append(Step(width: width, mask: mask, ranges: ranges, span: span))
    }
    guard usedCount > 0 else { return nil }
    self.steps = Array(steps.prefix(usedCount))
    self.covered = covered
  }

  /// Returns the numbers that follow the marker in the values of a range, or `nil` if the range may
  /// include `nil`.
  private static func span(_ range: ScanRange, mask: UInt8) -> ClosedRange<UInt64>? {
    let marker = KeyEncoder.valueMarker ^ mask
    guard range.lower.first == marker else { return nil }
    let least = number(behindMarkerOf: range.lower)
    guard let upper = range.upper, upper.first == marker else {
      // In a descending column, the next marker is that of `nil`.
      return range.upper?.count == 1 ? least...UInt64.max : nil
    }
    let end = number(behindMarkerOf: upper)
    return end > least ? least...(end - 1) : nil
  }

  /// Decodes the bytes after the marker. Missing bytes count as 0, which is the least key with that
  /// prefix.
  private static func number(behindMarkerOf bytes: [UInt8]) -> UInt64 {
    (1...8).reduce(0) { $0 << 8 | UInt64($1 < bytes.count ? bytes[$1] : 0) }
  }

  /// Returns whether the objects of a key may satisfy the conditions.
  @inline(__always)
  func accepts(_ key: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    for index in steps.indices {
      guard offset < key.count else { return true }
      let mask = steps[index].mask
      let isNil = key[offset] == KeyEncoder.nilMarker ^ mask
      if let span = steps[index].span {
        guard !isNil, offset + 9 <= key.count else { return !isNil }
        let number = UInt64(
          bigEndian: key.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        guard span.contains(number) else { return false }
        offset += 9
        continue
      }
      guard let end = isNil ? offset + 1 : self.end(of: index, in: key, from: offset),
        end <= key.count
      else { return true }
      if !steps[index].ranges.isEmpty {
        guard lies(UnsafeRawBufferPointer(rebasing: key[offset..<end]), in: index) else {
          return false
        }
      }
      offset = end
    }
    return true
  }

  private func end(of index: Int, in key: UnsafeRawBufferPointer, from offset: Int) -> Int? {
    if let width = steps[index].width { return offset + width }
    let terminator = KeyEncoder.terminator ^ steps[index].mask
    return key[(offset + 1)...].firstIndex(of: terminator).map { $0 + 1 }
  }

  private func lies(_ bytes: UnsafeRawBufferPointer, in index: Int) -> Bool {
    steps[index].ranges.contains { range in
      !bytes.isBefore(range.lower) && range.upper.map { bytes.isBefore($0) } ?? true
    }
  }
}
