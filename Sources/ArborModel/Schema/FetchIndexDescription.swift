/// An index that serves fetches: its name and what it is ordered by.
///
/// Mark a single attribute `.indexed` instead, unless it needs another order or a condition.
///
/// ```swift
/// EntityDescription("Task") {
///   AttributeDescription("title", .string)
///   AttributeDescription("body", .string, .optional)
///   AttributeDescription("dueDate", .date)
///   AttributeDescription("isDone", .boolean)
///   FetchIndexDescription("byTitle", on: .folded("title"))
///   FetchIndexDescription("open", on: "dueDate", "-title", where: "isDone == NO")
///   FetchIndexDescription(text: "body")
/// }
/// ```
public struct FetchIndexDescription: Sendable, Hashable {
  /// One column of an index: `"age"`, `"-age"`, `.folded("name")`.
  public struct Element: Sendable, Hashable, ExpressibleByStringLiteral {
    /// What kind of order the column keeps.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// The order of the values.
      case binary
      /// A spatial order; kept from model files, served as ``binary``.
      case rTree
      /// The order of texts without case and diacritics, which serves comparisons with `[cd]`.
      case folded
      /// The words of a text, which serve `TOKENMATCHES` and full-text search; the index has no
      /// columns of another kind.
      case text
    }

    /// The name of the attribute or to-one relationship, or an expression's text.
    public var property: String
    /// Whether ``property`` is an expression.
    public var isExpression: Bool
    /// Whether the column is ordered from the least value up.
    public var isAscending: Bool
    /// What kind of order the column keeps.
    public var kind: Kind

    /// Describes a column.
    public init(
      _ property: String, isExpression: Bool = false, isAscending: Bool = true, kind: Kind = .binary
    ) {
      self.property = property
      self.isExpression = isExpression
      self.isAscending = isAscending
      self.kind = kind
    }

    /// Describes a column in the order of the values; descending after a minus sign.
    public init(stringLiteral text: String) { self.init(text, signed: .binary) }

    /// Returns a column of texts without case and diacritics; descending after a minus sign.
    public static func folded(_ attribute: String) -> Element {
      Element(attribute, signed: .folded)
    }

    private init(_ text: String, signed kind: Kind) {
      let isDescending = text.hasPrefix("-")
      self.init(
        isDescending ? String(text.dropFirst()) : text, isAscending: !isDescending, kind: kind)
    }
  }

  /// The index's name, unique in its entity.
  public var name: String
  /// The columns, most significant first.
  public var elements: [Element]
  /// The predicate that an object has to fulfil to be in the index. It may say anything about the
  /// object's own attributes and to-one relationships, nothing about other objects or the time.
  public var partialIndexPredicate: String?
  /// Whether no two objects in the index may have the same values. Objects with nil in a column
  /// are not bound by it.
  public var isUnique: Bool

  /// Describes an index by its columns.
  ///
  /// - Parameters:
  ///   - name: The index's name, unique in its entity.
  ///   - columns: Attributes and to-one relationships, most significant first. A minus sign before
  ///     the name makes a column descending.
  ///   - condition: The condition that objects in the index fulfil, or `nil` for all objects. It
  ///     may read the object's own attributes and to-one relationships, but neither other objects
  ///     nor the time.
  ///   - isUnique: Whether no two objects in the index may have the same values.
  public init(
    _ name: String, on columns: Element..., where condition: String? = nil, isUnique: Bool = false
  ) {
    self.init(
      name: name, elements: columns, partialIndexPredicate: condition, isUnique: isUnique)
  }

  /// Describes a full-text index, which finds objects by the words of attributes in any case and
  /// with or without diacritics; see `TOKENMATCHES`, and a context's `search` for the best matches.
  ///
  /// ```swift
  /// FetchIndexDescription(text: "title", "body", name: "articleWords")
  /// ```
  ///
  /// - Parameters:
  ///   - attribute: The name of a string attribute.
  ///   - others: The names of further attributes, which a search reads together with the first.
  ///   - name: The index's name; by default the first attribute's name followed by `Words`.
  ///   - condition: The condition that objects in the index fulfil, or `nil` for all objects.
  public init(
    text attribute: String, _ others: String..., name: String? = nil, where condition: String? = nil
  ) {
    self.init(
      name: name ?? attribute + "Words",
      elements: ([attribute] + others).map { .init($0, kind: .text) },
      partialIndexPredicate: condition)
  }

  /// Describes an index by all of its properties, as readers of model files do.
  public init(
    name: String, elements: [Element], partialIndexPredicate: String? = nil, isUnique: Bool = false
  ) {
    self.name = name
    self.elements = elements
    self.partialIndexPredicate = partialIndexPredicate
    self.isUnique = isUnique
  }
}

extension FetchIndexDescription {
  package var isOfWords: Bool {
    !elements.isEmpty && elements.allSatisfy { $0.kind == .text && !$0.isExpression }
  }

  /// The name of what keeps the words of one attribute, where the index is over several.
  package func name(ofWordsIn attribute: String) -> String { "\(name).\(attribute)" }

  /// What the index is made of, as a person reads it: `unique (folded name, -age) where age > 3`.
  package var summary: String {
    (isUnique ? "unique " : "") + "(\(elements.map(\.summary).joined(separator: ", ")))"
      + (partialIndexPredicate.map { " where \($0)" } ?? "")
  }
}

extension FetchIndexDescription.Element {
  /// `name`, `-name`, `folded name` or `words of name`.
  fileprivate var summary: String {
    let name = (isAscending ? "" : "-") + property
    return switch kind {
    case .binary, .rTree: name
    case .folded: "folded \(name)"
    case .text: "words of \(name)"
    }
  }
}
