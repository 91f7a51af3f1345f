import ArborModel
import Foundation

/// What a decoder reads: a value in a document or in a store. Scalars are exact or an error.
protocol ValueModelSource {
  /// What all sources of one call share.
  associatedtype Session: ModelSession
  associatedtype Raw: TransformedForm

  /// Whether there is nil here.
  var isNull: Bool { get }
  /// What a transformer reads.
  func raw() throws -> Raw
  static func transformer(_ key: String, of traits: ModelTraits) -> PropertyTransformer<Raw>?

  func boolean() throws -> Bool
  func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T
  func floating<T: BinaryFloatingPoint>(_ type: T.Type) throws -> T
  func string() throws -> String
  func decimal() throws -> Decimal
  func date() throws -> Date
  func data() throws -> Data
  func url() throws -> URL
  func uuid() throws -> UUID

  func elements() throws -> [Self]
  /// Checks that there are members.
  func demandMembers() throws
  /// The keys of the members, for callers that have to ask.
  func keys() -> [String]
  /// A member; nil where it is missing.
  ///
  /// - Parameters:
  ///   - type: The type that is asked for; nil where it is not known.
  ///   - traits: Of the model whose property the member is; nil for a member of anything else.
  ///   - cursor: Where the last member was found; 0 at first.
  func member(
    _ key: String, as type: Any.Type?, of traits: ModelTraits?, _ session: Session,
    cursor: inout Int
  ) throws -> Self?

  /// A model of a type, made of what is here.
  func model<M: ValueModel>(_ type: M.Type, _ traits: ModelTraits, _ decoder: ModelDecoder<Self>)
    throws -> M
  /// Whether a model needs nothing but its initializer.
  func makesPlainly(_ traits: ModelTraits) -> Bool
  /// A value of a type where the source has a form of its own for it, before all others.
  func special<T: Decodable>(_ type: T.Type, _ shape: ModelShape) throws -> T?
  /// Whether an optional property, which wraps a type, is set later, once all models have been
  /// made, and nil until then.
  func isPostponed(_ key: String, _ type: Any.Type, _ decoder: ModelDecoder<Self>) throws -> Bool

  /// An error at this location.
  func fault(_ message: String, _ code: ArborError.Code) -> ArborError
  /// The code for a value of another type than the one asked for.
  static var mismatch: ArborError.Code { get }
}

/// What is shared by all that one call decodes.
protocol ModelSession: AnyObject {
  var shapes: ModelShapes { get }
}

extension ValueModelSource {
  func isPostponed(
    _ key: String, _ type: Any.Type, _ decoder: ModelDecoder<Self>
  ) throws -> Bool { false }
}

/// The words for what a type takes.
enum ModelExpectation {
  static func integer<T: FixedWidthInteger>(_ type: T.Type) -> String {
    "a whole number from \(T.min) to \(T.max)"
  }
  static func floating<T: BinaryFloatingPoint>(_ type: T.Type) -> String {
    "a number in the range of \(T.self)"
  }
  static let decimal = "a number of at most 38 digits"
  static let date = "a date in ISO 8601, as \"2024-05-01T12:30:00Z\""
  static let data = "bytes as a base64 string"
  static let url = "a URL as a string"
  static let uuid = "a UUID as a string"
}
