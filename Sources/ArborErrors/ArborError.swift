public import ArborFoundation

/// The error thrown by every throwing operation of the library.
///
/// The message describes the failure and then the remedy. It never contains values of the user's
/// data; ``debugDescription`` does.
///
/// ```swift
/// do throws(ArborError) { try manager.commit() } catch {
///   guard error.code == .validation else { throw error }
///   for violation in error.violations { print(violation.message) }
/// }
/// ```
///
/// With `throws(ArborError)` after `do`, `error` is an `ArborError` in closures and tasks, too. Avoid
/// `catch let error as ArborError where …`: Swift 6.3 crashes if its body contains a `try`.
public struct ArborError: Error, Sendable {
  /// The kind of failure. New kinds may be added.
  public let code: Code
  /// A description of the failure and the remedy.
  public let message: String
  /// Rarely used fields, stored out of line. An error occupies space in the stack frame of every
  /// function that propagates it, so a small error keeps deep recursion cheap.
  private var attachments: Attachments?

  /// Creates an error with a code and a message. Set the other properties afterwards.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension ArborError {
  /// The optional fields, `nil` or empty by default.
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
    var oldestSequence: UInt64?
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

  /// The property or key path the failure concerns.
  public var keyPath: String? {
    get { fields.keyPath }
    set { fields.keyPath = newValue }
  }

  /// The location of the failure in a document.
  public var location: SourceLocation? {
    get { fields.location }
    set { fields.location = newValue }
  }

  /// The individual failures, if there are several: every violation of a commit, or every problem
  /// in a model. Empty if the error describes the only failure.
  public var violations: [ArborError] {
    get { fields.violations }
    set { fields.violations = newValue }
  }

  /// The batch of commits whose outcome is unknown, or which is in the shared log but not in the
  /// store's file on this machine. See `PersistentStore.outcome(of:)`.
  public var batch: UUID? {
    get { fields.batch }
    set { fields.batch = newValue }
  }

  /// The sequence of the oldest commit in the history, if the history no longer contains a
  /// requested one.
  public var oldestSequence: UInt64? {
    get { fields.oldestSequence }
    set { fields.oldestSequence = newValue }
  }

  /// The error that caused this one.
  public var underlying: (any Error)? {
    get { fields.underlying }
    set { fields.underlying = newValue }
  }

  /// The user's value that caused the failure. Appears only in ``debugDescription``.
  package var offendingValue: String? {
    get { fields.offendingValue }
    set { fields.offendingValue = newValue }
  }

  /// The values that identify the object, such as `code "FR"`. Appears only in
  /// ``debugDescription``.
  package var identity: String? {
    get { fields.identity }
    set { fields.identity = newValue }
  }
}

extension ArborError {
  /// The kind of a failure.
  ///
  /// Codes compare by name. They are not an enumeration, so later versions can add codes without
  /// breaking a `switch`.
  public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The code's name.
    public let rawValue: String
    /// Creates a code with the given name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The code's name.
    public var description: String { rawValue }

    /// An invalid argument.
    public static let invalidArgument = Code(rawValue: "invalidArgument")
    /// A model that contradicts itself or violates its file format.
    public static let invalidModel = Code(rawValue: "invalidModel")
    /// A name that is not in the model.
    public static let unknownName = Code(rawValue: "unknownName")
    /// A value that doesn't have the property's type.
    public static let typeMismatch = Code(rawValue: "typeMismatch")
    /// A stored value that the Swift type of its property cannot represent, because the type has
    /// changed or another program has written the value.
    public static let unreadableValue = Code(rawValue: "unreadableValue")
    /// A predicate that cannot be parsed, has unbound variables, or doesn't fit the entity.
    public static let invalidPredicate = Code(rawValue: "invalidPredicate")
    /// A feature that the program doesn't include, because it uses `ArborCore`.
    public static let unsupported = Code(rawValue: "unsupported")
    /// A commit that violates validation rules of the model.
    public static let validation = Code(rawValue: "validation")
    /// Two objects with the same unique value.
    public static let notUnique = Code(rawValue: "notUnique")
    /// A commit that conflicts with a newer commit of the same objects.
    public static let conflict = Code(rawValue: "conflict")
    /// An object that isn't, or is no longer, in the store.
    public static let objectNotFound = Code(rawValue: "objectNotFound")
    /// Text that is not valid JSON.
    public static let malformedDocument = Code(rawValue: "malformedDocument")
    /// A JSON document that doesn't fit the model or doesn't have the expected structure.
    public static let invalidDocument = Code(rawValue: "invalidDocument")
    /// Text in a document that cannot be parsed as the expected value, such as a date or UUID.
    public static let unparsableValue = Code(rawValue: "unparsableValue")
    /// A document that links to itself, directly or through other documents.
    public static let cyclicDocument = Code(rawValue: "cyclicDocument")
    /// Items of a document that lack the values that identify their objects.
    public static let missingIdentity = Code(rawValue: "missingIdentity")
    /// A path, address or key path, in a document or into one, that is invalid or cannot be
    /// resolved.
    public static let invalidPath = Code(rawValue: "invalidPath")
    /// A file that cannot be found or read.
    public static let fileUnreadable = Code(rawValue: "fileUnreadable")
    /// A file that is not a store of this library.
    public static let notAStore = Code(rawValue: "notAStore")
    /// A store written with another model.
    public static let modelMismatch = Code(rawValue: "modelMismatch")
    /// A store that another process has migrated in the meantime.
    public static let modelChanged = Code(rawValue: "modelChanged")
    /// A store that cannot be written because a migration is rewriting it as a copy.
    public static let migrationUnderWay = Code(rawValue: "migrationUnderWay")
    /// A store whose format is newer than this library supports.
    public static let formatTooNew = Code(rawValue: "formatTooNew")
    /// An LMDB version other than 0.9, either loaded by the program or used to write the file.
    public static let unsupportedEngine = Code(rawValue: "unsupportedEngine")
    /// A store with damaged data.
    public static let corrupted = Code(rawValue: "corrupted")
    /// A full disk, or a file-size limit that has been reached.
    public static let diskFull = Code(rawValue: "diskFull")
    /// A read or write that failed, or that the operating system refused.
    public static let inputOutput = Code(rawValue: "inputOutput")
    /// A read-only store, folder or file.
    public static let readOnly = Code(rawValue: "readOnly")
    /// A store that is in use elsewhere.
    public static let inUse = Code(rawValue: "inUse")
    /// A store to which another process has been writing for longer than a commit may wait. See
    /// `StoreOptions.busyTimeout`.
    public static let busy = Code(rawValue: "busy")
    /// A store whose file another program removed, renamed, replaced or overwrote after it was
    /// opened. Commits are refused because they would be lost when the file is closed.
    public static let fileReplaced = Code(rawValue: "fileReplaced")
    /// A closed store or context.
    public static let closed = Code(rawValue: "closed")
    /// An exceeded limit of the engine or of an option.
    public static let limitExceeded = Code(rawValue: "limitExceeded")
    /// An operation whose task was cancelled before it finished.
    public static let cancelled = Code(rawValue: "cancelled")
    /// An operation that didn't finish before its deadline.
    public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
    /// A log that is unreachable or rejected the request. The data to be appended is not in the
    /// log.
    public static let logUnavailable = Code(rawValue: "logUnavailable")
    /// A commit that may or may not be in the shared log.
    public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
    /// Commits that the history no longer contains.
    public static let historyTrimmed = Code(rawValue: "historyTrimmed")
    /// A store that has diverged from its log, or from the history that a token belongs to.
    public static let forked = Code(rawValue: "forked")
    /// A call that is not allowed in the current state.
    public static let notAllowed = Code(rawValue: "notAllowed")
  }

  /// A location in a document.
  public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    /// The file's path or the document's URL, if known.
    public var source: String?
    /// The line number, starting at 1.
    public var line: Int
    /// The column in characters, starting at 1.
    public var column: Int
    /// The path of the value in a JSON document, such as `$.employees[3].hired`.
    public var path: String?

    /// Creates a location.
    public init(source: String? = nil, line: Int, column: Int, path: String? = nil) {
      self.source = source
      self.line = line
      self.column = column
      self.path = path
    }

    /// The location as `source:line:column`, followed by the path in parentheses if there is one.
    public var description: String {
      (source.map { "\($0):" } ?? "") + "\(line):\(column)" + (path.map { " (\($0))" } ?? "")
    }
  }
}

extension ArborError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The message with its location and object, followed by the first 20 violations, each on its own
  /// line, and the number of remaining ones. ``violations`` contains all of them.
  public var description: String { text(isForDebugging: false) }

  /// The code, followed by the description with the entity, object, unique values, key path,
  /// offending value and underlying error, also for each listed violation.
  public var debugDescription: String { "\(code): " + text(isForDebugging: true) }

  private func text(isForDebugging: Bool) -> String {
    var text = location.map { "\($0): " } ?? ""
    text += message
    if let name = unnamedObject { text += " (\(name))" }
    if isForDebugging { text += details }
    // A single violation with the same message would only repeat it.
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

  /// The object as `Employee 12`, or `nil` if there isn't one or the message mentions it.
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
  /// The text as a clause within a sentence: without the final period, and with a leading article
  /// in lowercase.
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
  /// Returns a copy of the error with additional fields set.
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
