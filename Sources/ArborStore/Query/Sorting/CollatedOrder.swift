internal import ArborFoundation
internal import ArborModel

/// Compares rows by value, for orders that cannot be expressed in bytes: localized and numeric
/// text, computed values and untyped values.
final class CollatedOrder: RowOrder {
  typealias Key = [PropertyValue]

  private let keys: [BoundSortKey]
  private let columns: SortColumns

  init(_ keys: [BoundSortKey], columns: SortColumns) {
    self.keys = keys
    self.columns = columns
  }

  func isCertainlyAfter(_ record: RecordView, of entity: EntitySchema, _ key: Key) -> Bool { false }

  func isCertainlyBefore(_ record: RecordView, of entity: EntitySchema, _ key: Key) -> Bool {
    false
  }

  func key(of values: [PropertyValue]) -> Key? {
    guard values.count == keys.count else { return nil }
    return zip(keys, values).map { key, value in Self.prepared(value, key.options) }
  }

  func key(
    _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) throws(ArborError) -> Key {
    zip(keys, try columns.values(number, record, of: entity)).map { key, value in
      Self.prepared(value, key.options)
    }
  }

  func dropLastKey() {}

  func dropKeys() {}

  func compare(_ left: Key, _ right: Key) -> Ordering {
    for (index, key) in keys.enumerated() {
      let order = Self.compare(
        left[index], right[index], key.options, key.locale ?? columns.locale)
      if order != .equal { return key.isAscending ? order : order.reversed }
    }
    return .equal
  }

  func prefix(of key: Key) -> UInt64 { 0 }

  /// Returns a value in the form in which it is compared.
  static func prepared(_ value: PropertyValue, _ options: SortKey.Options) -> PropertyValue {
    guard case .string(let text) = value, !options.isCollated else { return value }
    return .string(options.folding.fold(text))
  }

  /// Returns the value of a section: equal for all values of a section, and different for others.
  static func section(_ value: PropertyValue, _ options: SortKey.Options) -> DistinctValue {
    guard case .string(let text) = value else { return DistinctValue(value) }
    return DistinctValue(.string(options.folding.fold(text)))
  }

  /// Returns the order of two prepared values. Texts that a collation considers equal are ordered
  /// by code point, after folding, so that equal values are always consecutive.
  ///
  /// - Parameter locale: The locale for localized texts.
  static func compare(
    _ left: PropertyValue, _ right: PropertyValue, _ options: SortKey.Options, _ locale: Locale
  ) -> Ordering {
    guard options.isCollated, case .string(let left) = left, case .string(let right) = right else {
      return PropertyValue.compare(left, right)
    }
    let folding = options.folding
    // Binding an order fails without services.
    let order = LocaleSupport.services?.order(
      left, right, ignoring: folding, isNumeric: options.contains(.numeric),
      options.contains(.localized) ? locale : nil)
    if let order, order != .equal { return order }
    return PropertyValue.compareTexts(folding.fold(left), folding.fold(right))
  }
}
