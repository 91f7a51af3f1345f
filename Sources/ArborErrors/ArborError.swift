public import Foundation

/// What every throwing operation of the library throws.
///
/// The message says what happened, then what to do. It never contains values of the user's data;
/// ``debugDescription`` does.
///
/// ```swift
/// do { try manager.commit() } catch let error as ArborError where error.code == .validation {
///   for violation in error.violations { print(violation.message) }
/// }
/// ```
public struct ArborError: Error, Sendable {
  /// What kind of failure this is; new kinds may be added.
  public let code: Code
  /// What happened, then what to do.
  public let message: String
  /// What few errors have. An error lies in the frame of every function on its way, so that a
  /// deep recursion takes room for each of its bytes many times: these lie elsewhere.
  private var attachments: Attachments?

  /// Makes an error; further fields are set afterwards.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension ArborError {
  /// Fields beside the sentence; they are nil or empty at first.
  private struct Fields: Sendable {
    var entity: String?
    var objectID: ObjectID?
    var keyPath: String?
    var location: SourceLocation?
    var violations: [ArborError] = []
    var batch: UUID?
    var underlying: (any Error)?
    var offendingValue: String?
    var identity: String?
  }

  private final class Attachments: Sendable {
    let fields: Fields
    init(_ fields: Fields) { self.fields = fields }
  }

  private var fields: Fields {
    get { attachments?.fields ?? Fields() }
    set { attachments = Attachments(newValue) }
  }

  /// The entity the failure concerns.
  public var entity: String? {
    get { fields.entity }
    set { fields.entity = newValue }
  }

  /// The object the failure concerns.
  public var objectID: ObjectID? {
    get { fields.objectID }
    set { fields.objectID = newValue }
  }

  /// The property, or the path of properties, the failure concerns.
  public var keyPath: String? {
    get { fields.keyPath }
    set { fields.keyPath = newValue }
  }

  /// Where in a document the failure lies.
  public var location: SourceLocation? {
    get { fields.location }
    set { fields.location = newValue }
  }

  /// Each single failure where there are several: every violation of a commit, every problem of a
  /// model. Empty where the error is the only one.
  public var violations: [ArborError] {
    get { fields.violations }
    set { fields.violations = newValue }
  }

  /// The commits of which nobody knows whether they are in the log that the store shares, or which
  /// are there and not in this machine's file; see `PersistentStore.outcome(of:)`.
  public var batch: UUID? {
    get { fields.batch }
    set { fields.batch = newValue }
  }

  /// The error beneath this one.
  public var underlying: (any Error)? {
    get { fields.underlying }
    set { fields.underlying = newValue }
  }

  /// A value of the user's data that explains the failure; only in ``debugDescription``.
  package var offendingValue: String? {
    get { fields.offendingValue }
    set { fields.offendingValue = newValue }
  }

  /// The values that tell the object apart from others, as `code "FR"`; only in
  /// ``debugDescription``.
  package var identity: String? {
    get { fields.identity }
    set { fields.identity = newValue }
  }
}

extension ArborError {
  /// The kind of a failure.
  ///
  /// Codes compare by name, so one that a later version adds is a value that no present `switch`
  /// breaks on.
  public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The code's name.
    public let rawValue: String
    /// Makes a code from its name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The code's name.
    public var description: String { rawValue }

    /// An argument that no call accepts.
    public static let invalidArgument = Code(rawValue: "invalidArgument")
    /// A model that contradicts itself or its file format.
    public static let invalidModel = Code(rawValue: "invalidModel")
    /// A name that the model does not know.
    public static let unknownName = Code(rawValue: "unknownName")
    /// A value of another type than the property's.
    public static let typeMismatch = Code(rawValue: "typeMismatch")
    /// A predicate that does not parse, bind or fit.
    public static let invalidPredicate = Code(rawValue: "invalidPredicate")
    /// A commit that breaks rules of the model.
    public static let validation = Code(rawValue: "validation")
    /// Two objects with one unique value.
    public static let notUnique = Code(rawValue: "notUnique")
    /// A commit that met a newer commit of the same objects.
    public static let conflict = Code(rawValue: "conflict")
    /// An object that is not, or no longer, in the store.
    public static let objectNotFound = Code(rawValue: "objectNotFound")
    /// A text that is no JSON.
    public static let malformedDocument = Code(rawValue: "malformedDocument")
    /// A JSON document that does not fit the model, or has another shape than is asked for.
    public static let invalidDocument = Code(rawValue: "invalidDocument")
    /// A text within a document that the value it stands for cannot be read from, as a date or a
    /// UUID.
    public static let unparsableValue = Code(rawValue: "unparsableValue")
    /// A document that links to itself, over however many others.
    public static let cyclicDocument = Code(rawValue: "cyclicDocument")
    /// Items of a document that lack what identifies their objects.
    public static let missingIdentity = Code(rawValue: "missingIdentity")
    /// A path, address or key path in or of a document that names nothing or cannot be followed.
    public static let invalidPath = Code(rawValue: "invalidPath")
    /// A file that cannot be found or read.
    public static let fileUnreadable = Code(rawValue: "fileUnreadable")
    /// A file that is no store of this library.
    public static let notAStore = Code(rawValue: "notAStore")
    /// A store written with another model.
    public static let modelMismatch = Code(rawValue: "modelMismatch")
    /// A store that another process has migrated meanwhile.
    public static let modelChanged = Code(rawValue: "modelChanged")
    /// A store that is being migrated in a copy, so that nothing is written to it meanwhile.
    public static let migrationUnderWay = Code(rawValue: "migrationUnderWay")
    /// A store of a newer format than this library reads.
    public static let formatTooNew = Code(rawValue: "formatTooNew")
    /// A program that runs with an LMDB of another version than 0.9, or a file that one wrote.
    public static let unsupportedEngine = Code(rawValue: "unsupportedEngine")
    /// A store whose bytes are damaged.
    public static let corrupted = Code(rawValue: "corrupted")
    /// No room on the disk, or a file-size limit.
    public static let diskFull = Code(rawValue: "diskFull")
    /// A read or write that the operating system refused or failed.
    public static let inputOutput = Code(rawValue: "inputOutput")
    /// A store, folder or file that may only be read.
    public static let readOnly = Code(rawValue: "readOnly")
    /// A store that something else holds open.
    public static let inUse = Code(rawValue: "inUse")
    /// A store whose file another program has removed, renamed, replaced or written over since it
    /// was opened. Commits are refused, since they would go with the file's last opener.
    public static let fileReplaced = Code(rawValue: "fileReplaced")
    /// A store or context that is closed.
    public static let closed = Code(rawValue: "closed")
    /// A limit of the engine or of an option.
    public static let limitExceeded = Code(rawValue: "limitExceeded")
    /// An operation whose task was cancelled before it was done.
    public static let cancelled = Code(rawValue: "cancelled")
    /// An operation that was not done at its deadline.
    public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
    /// A log that cannot be reached, or refuses. What was to be added to it is not in it.
    public static let logUnavailable = Code(rawValue: "logUnavailable")
    /// A commit of which nobody knows whether it is in the log that the store shares.
    public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
    /// A store and its log that have gone different ways.
    public static let forked = Code(rawValue: "forked")
    /// A call that is not allowed here and now.
    public static let notAllowed = Code(rawValue: "notAllowed")
  }

  /// A location in a document.
  public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    /// The file's path or the document's URL, where there is one.
    public var source: String?
    /// The line, from 1.
    public var line: Int
    /// The column in characters, from 1.
    public var column: Int
    /// The path of the value in a JSON document, as `$.employees[3].hired`.
    public var path: String?

    /// Makes a location.
    public init(source: String? = nil, line: Int, column: Int, path: String? = nil) {
      self.source = source
      self.line = line
      self.column = column
      self.path = path
    }

    /// `source:line:column`, then the path in parentheses where there is one.
    public var description: String {
      (source.map { "\($0):" } ?? "") + "\(line):\(column)" + (path.map { " (\($0))" } ?? "")
    }
  }
}

extension ArborError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The message with its place and object, and the first twenty violations on lines of their own,
  /// followed by the number of the others. ``violations`` has all of them.
  public var description: String { text(isForDebugging: false) }

  /// The description with the code, the subject, the object's unique values, the offending value
  /// and what lies beneath, each violation with its own.
  public var debugDescription: String { "\(code): " + text(isForDebugging: true) }

  private func text(isForDebugging: Bool) -> String {
    var text = location.map { "\($0): " } ?? ""
    text += message
    if let name = unnamedObject { text += " (\(name))" }
    if isForDebugging { text += details }
    // A single violation is what the error says already.
    if violations.count == 1, violations[0].message == message, violations[0].violations.isEmpty {
      return text
    }
    for violation in violations.prefix(Self.listedViolations) {
      text += "\n- " + violation.text(isForDebugging: isForDebugging)
    }
    let others = violations.count - Self.listedViolations
    if others > 0 { text += "\n- and \(others) more" }
    return text
  }

  private static var listedViolations: Int { 20 }

  /// The object as `Employee 12`, where the message does not name it.
  private var unnamedObject: String? {
    guard let objectID else { return nil }
    let name = "\(objectID.entityName) \(objectID.number)"
    return message.contains(name) || message.contains("\(objectID)") ? nil : name
  }

  private var details: String {
    var text = ""
    if let entity { text += " [entity \(entity)]" }
    if let objectID { text += " [object \(objectID)]" }
    if let identity { text += " [unique \(identity)]" }
    if let keyPath { text += " [key path \(keyPath)]" }
    if let offendingValue { text += " [value \(offendingValue)]" }
    if let underlying { text += " [underlying: \(underlying)]" }
    return text
  }
}

extension String {
  /// The text as a part of a sentence that goes on behind it: without a full stop at its end, and
  /// without a capital where it begins with an article.
  package var asClause: String {
    var text = self[...]
    while text.hasSuffix(".") { text = text.dropLast() }
    for article in ["The ", "A ", "An ", "Another ", "Only "] where text.hasPrefix(article) {
      return text.prefix(1).lowercased() + text.dropFirst()
    }
    return String(text)
  }
}

extension ArborError {
  /// The error with further fields set, as one expression.
  package func with(
    entity: String? = nil, objectID: ObjectID? = nil, keyPath: String? = nil,
    location: SourceLocation? = nil, offending: String? = nil, identity: String? = nil,
    underlying: (any Error)? = nil
  ) -> ArborError {
    var error = self
    error.entity = entity ?? self.entity
    error.objectID = objectID ?? self.objectID
    error.keyPath = keyPath ?? self.keyPath
    error.location = location ?? self.location
    error.offendingValue = offending ?? offendingValue
    error.identity = identity ?? self.identity
    error.underlying = underlying ?? self.underlying
    return error
  }
}
