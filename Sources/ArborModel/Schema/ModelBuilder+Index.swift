/// An index of an entity written in code; see ``ModelBuilder``.
///
/// A single attribute is marked `.indexed` instead, unless it takes another kind of order or a
/// condition.
///
/// ```swift
/// Entity("Task") {
///   Attribute("title", .string)
///   Attribute("body", .string, .optional)
///   Attribute("dueDate", .date)
///   Attribute("isDone", .boolean)
///   Index("byTitle", on: .folded("title"))
///   Index("open", on: "dueDate", "-title", where: "isDone == NO")
///   Index(text: "body")
/// }
/// ```
public struct Index: Sendable {
  /// What the index says.
  public var description: FetchIndexDescription

  /// Describes an index.
  ///
  /// - Parameters:
  ///   - name: The index's name, unique in its entity.
  ///   - columns: Attributes and to-one relationships, most significant first; a minus sign before
  ///     the name makes a column descending.
  ///   - condition: What an object has to fulfil to be in the index; nil for all objects. It may
  ///     say anything about the object's own attributes and to-one relationships, nothing about
  ///     other objects or the time.
  ///   - isUnique: Whether no two objects in the index may have the same values.
  public init(
    _ name: String, on columns: IndexColumn..., where condition: String? = nil,
    isUnique: Bool = false
  ) {
    description = FetchIndexDescription(
      name: name, elements: columns.map(\.element), partialIndexPredicate: condition,
      isUnique: isUnique)
  }

  /// Describes a full-text index: it finds objects by the words of attributes, in any form of case
  /// and diacritics; see `TOKENMATCHES`, and the context's `search` for the best matches first.
  ///
  /// ```swift
  /// Index(text: "title", "body", name: "articleWords")
  /// ```
  ///
  /// - Parameters:
  ///   - attribute: The name of a string attribute.
  ///   - others: Those of others, which a search looks at together.
  ///   - name: The index's name; nil for that of the first attribute with `Words` behind it.
  ///   - condition: What an object has to fulfil to be in the index; nil for all objects.
  public init(
    text attribute: String, _ others: String..., name: String? = nil, where condition: String? = nil
  ) {
    description = FetchIndexDescription(
      name: name ?? attribute + "Words",
      elements: ([attribute] + others).map { .init($0, kind: .text) },
      partialIndexPredicate: condition)
  }
}

/// One column of an index written in code: `"age"`, `"-age"`, `.folded("name")`.
public struct IndexColumn: Sendable, Hashable, ExpressibleByStringLiteral {
  /// What the column says.
  public var element: FetchIndexDescription.Element

  /// A column in the order of the values; descending behind a minus sign.
  public init(stringLiteral text: String) { self.init(text, kind: .binary) }

  private init(_ text: String, kind: FetchIndexDescription.Element.Kind) {
    let isDescending = text.hasPrefix("-")
    element = .init(
      isDescending ? String(text.dropFirst()) : text, isAscending: !isDescending, kind: kind)
  }

  /// A column of texts in their order without case and diacritics; descending behind a minus sign.
  public static func folded(_ attribute: String) -> IndexColumn {
    IndexColumn(attribute, kind: .folded)
  }
}

extension EntityBuilder {
  /// Takes an index in.
  public static func buildExpression(_ index: Index) -> [Part] { [.index(index.description)] }
}
