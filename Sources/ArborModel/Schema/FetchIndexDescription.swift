/// An index for fetches: its name and its columns.
///
/// For a single attribute, use `.indexed` instead, unless the index needs another order or a
/// condition.
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
  /// A column of an index: `"age"`, `"-age"`, `.folded("name")`.
  public struct Element: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The kind of a column.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// The natural order of the values.
      case binary
      /// A spatial order. Preserved in model files, but treated as ``binary``.
      case rTree
      /// The order of strings without case and diacritics, for comparisons with `[cd]`.
      case folded
      /// The words of a string, for `TOKENMATCHES` and full-text search. All columns of such an
      /// index have this kind.
      case text
    }

    /// The name of the attribute or to-one relationship, or the text of an expression.
    public var property: String
    /// A Boolean value that indicates whether ``property`` is an expression.
    public var isExpression: Bool
    /// A Boolean value that indicates whether the column is in ascending order.
    public var isAscending: Bool
    /// The kind of the column.
    public var kind: Kind

    /// Creates a column.
    public init(
      _ property: String, isExpression: Bool = false, isAscending: Bool = true, kind: Kind = .binary
    ) {
      self.property = property
      self.isExpression = isExpression
      self.isAscending = isAscending
      self.kind = kind
    }

    /// Creates a column in the natural order of the values, descending if the name has a leading
    /// minus sign.
    public init(stringLiteral text: String) { self.init(text, signed: .binary) }

    /// Returns a column of strings without case and diacritics, descending if the name has a
    /// leading minus sign.
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
  /// The predicate that objects in the index satisfy, or `nil` for all objects. It can use the
  /// object's own attributes and to-one relationships, but neither other objects nor the time.
  public var partialIndexPredicate: String?
  /// A Boolean value that indicates whether no two objects in the index may have the same values.
  /// Objects with a `nil` value in a column are exempt.
  public var isUnique: Bool

  /// Creates an index from its columns.
  ///
  /// - Parameters:
  ///   - name: The index's name, unique in its entity.
  ///   - columns: Attributes and to-one relationships, most significant first. A leading minus sign
  ///     makes a column descending.
  ///   - condition: The predicate that objects in the index satisfy, or `nil` for all objects. It
  ///     can use the object's own attributes and to-one relationships, but neither other objects
  ///     nor the time.
  ///   - isUnique: Whether no two objects in the index may have the same values.
  public init(
    _ name: String, on columns: Element..., where condition: String? = nil, isUnique: Bool = false
  ) {
    self.init(
      name: name, elements: columns, partialIndexPredicate: condition, isUnique: isUnique)
  }

  /// Creates a full-text index, which finds objects by the words of attributes, ignoring case and
  /// diacritics; see `TOKENMATCHES`, and a context's `search` for ranked results.
  ///
  /// ```swift
  /// FetchIndexDescription(text: "title", "body", name: "articleWords")
  /// ```
  ///
  /// - Parameters:
  ///   - attribute: The name of a string attribute.
  ///   - others: The names of further string attributes, which are searched together with the
  ///     first.
  ///   - name: The index's name. The default is the first attribute's name followed by `Words`.
  ///   - condition: The predicate that objects in the index satisfy, or `nil` for all objects.
  public init(
    text attribute: String, _ others: String..., name: String? = nil, where condition: String? = nil
  ) {
    self.init(
      name: name ?? attribute + "Words",
      elements: ([attribute] + others).map { .init($0, kind: .text) },
      partialIndexPredicate: condition)
  }

  /// Creates an index from all of its properties. Used by parsers of model files.
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

  /// Returns the name of the stored index of one attribute in a full-text index over several.
  package func name(ofWordsIn attribute: String) -> String { "\(name).\(attribute)" }

  /// A human-readable description of the index: `unique (folded name, -age) where age > 3`.
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
