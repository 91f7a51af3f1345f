// The public interface that needs all of Foundation.

public import ArborExchange
public import ArborFoundation
public import ArborModel
public import ArborObjects
public import Foundation

extension CGFloat: PredicateArgument {
  /// The number as a `double`.
  public var predicateValue: PropertyValue { .double(Double(self)) }
}

extension CGFloat: AttributeValue {
  /// Always `double`.
  public static var attributeType: AttributeType { .double }
  /// Reads an attribute of either floating-point type.
  public static func load(from object: ManagedObject, slot: Int) -> CGFloat {
    CGFloat(Double.load(from: object, slot: slot))
  }
  /// Writes an attribute of either floating-point type, rounding if it has 32 bits.
  public func store(in object: ManagedObject, slot: Int) {
    Double(self).store(in: object, slot: slot)
  }
  /// Returns the number of a floating-point or integer value, or `nil` for any other value.
  public static func fromValue(_ value: PropertyValue) -> CGFloat? {
    Double.fromValue(value).map { CGFloat($0) }
  }
}

extension SortKey {
  /// Creates a sort key from a Foundation sort descriptor.
  ///
  /// ```swift
  /// request.sortKeys = [SortKey(SortDescriptor(\Employee.name, order: .reverse))]
  /// ```
  ///
  /// If the descriptor has no key path of modeled properties or uses a string comparison that the
  /// store doesn't support, the fetch throws `invalidPredicate`.
  public init<Root: ManagedObject>(_ descriptor: SortDescriptor<Root>) {
    do throws(ArborError) { self = try Self.key(for: descriptor) } catch {
      self.init(failing: error)
    }
  }

  private static func key<Root: ManagedObject>(
    for descriptor: SortDescriptor<Root>
  ) throws(ArborError) -> SortKey {
    guard let keyPath = descriptor.keyPath else {
      throw ArborError(
        .invalidPredicate,
        "The sort descriptor sorts by a function, not a property. Use "
          + "SortDescriptor(\\\(Root.self).property), or a SortKey.")
    }
    if let comparator = descriptor.stringComparator, comparator != .lexical {
      throw ArborError(
        .invalidPredicate,
        "A store cannot sort strings by the comparator \(comparator). Use a SortKey with options "
          + "such as .localized or .numeric.")
    }
    return SortKey(
      try Root.propertyPath(of: keyPath), isAscending: descriptor.order == .forward)
  }
}

extension JSONNumberFormat {
  /// Creates the format of a locale. For example, `de_DE` has a decimal comma and groups digits
  /// with points.
  public init(locale: Locale) {
    let separators = FoundationServices().separators(of: locale)
    self.init(decimalSeparator: separators.decimal, groupingSeparator: separators.grouping)
  }
}

extension PropertyTransformer {
  /// Creates a transformer between a date and a string in a Unicode date format.
  ///
  /// ```swift
  /// "due": .date(format: "d MMMM yyyy", timeZone: berlin, locale: Locale(identifier: "de_DE"))
  /// ```
  ///
  /// - Parameters:
  ///   - format: The date format.
  ///   - timeZone: The time zone of written strings, and of strings that don't contain a time zone.
  ///     Defaults to UTC.
  ///   - locale: The locale of month and weekday names. Defaults to `en_US_POSIX`, independent of
  ///     the device.
  public static func date(
    format: String, timeZone: TimeZone = .gmt, locale: Locale = Locale(identifier: "en_US_POSIX")
  ) -> PropertyTransformer {
    let pattern = DatePattern(format, zone: timeZone, locale: locale)
    return text("a date in the format \(format)", parse: pattern.date) { pattern.text($0) }
  }
}

extension ManagedObjectContext {
  /// Writes the objects of a request to a file in chunks. About 40 bytes per object are kept in
  /// memory, regardless of the size of the values.
  ///
  /// - Parameters:
  ///   - request: The request for the initial objects.
  ///   - handle: A file opened for writing. The text is written at its current position.
  /// - Throws: The same errors as the overload that takes objects; `diskFull` and `inputOutput` if
  ///   the file cannot be written. Text written before the error remains in the file.
  public func export<T: ManagedObject>(
    _ request: FetchRequest<T>, to handle: FileHandle, as format: JSONExportFormat = .json,
    depth: Int? = nil, keys: [String]? = nil
  ) throws(ArborError) {
    let file = OpenFile(descriptor: handle.fileDescriptor, closesAtEnd: false)
    try withExtendedLifetime(handle) { () throws(ArborError) in
      try export(request, to: ExportFile(file), as: format, depth: depth, keys: keys)
    }
  }
}
