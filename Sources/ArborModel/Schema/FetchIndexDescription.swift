/// An index that serves fetches: its name and what it is ordered by.
///
/// ```swift
/// FetchIndexDescription(name: "byName", elements: [.init("name", kind: .folded)])
/// FetchIndexDescription(
///   name: "open", elements: [.init("dueDate")], partialIndexPredicate: "isDone == NO")
/// FetchIndexDescription(name: "words", elements: [.init("body", kind: .text)])
/// ```
public struct FetchIndexDescription: Sendable, Hashable {
  /// One column of an index.
  public struct Element: Sendable, Hashable {
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

  /// Describes an index.
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
