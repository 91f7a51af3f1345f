public import ArborFoundation

/// The permanent identity of one object in one store.
///
/// An ID is assigned when an object is inserted, before its first commit, and never changes. Pass
/// IDs instead of objects between threads, processes and files. The text form is
/// `arbor://<store-uuid>/<Entity>/<number>`.
///
/// ```swift
/// let id = employee.objectID
/// let same = try ObjectID("\(id)")
/// ```
public struct ObjectID: Sendable, Hashable {
  /// The identifier of the object's store.
  public let storeID: UUID
  /// The name of the object's concrete entity, never of a parent entity.
  public let entityName: String
  /// The object's number within its entity, from 1 to 2⁴⁰ − 1.
  public let number: UInt64

  /// Creates an ID. The object doesn't have to exist.
  ///
  /// - Parameters:
  ///   - storeID: The store's UUID, from `PersistentStore.id`.
  ///   - entityName: The name of the object's concrete entity.
  ///   - number: The object's number within its entity, from 1 to 2⁴⁰ − 1.
  @inlinable
  public init(storeID: UUID, entityName: String, number: UInt64) {
    self.storeID = storeID
    self.entityName = entityName
    self.number = number
  }

  /// The largest object number.
  @inlinable package static var maximumNumber: UInt64 { (1 << 40) - 1 }

  /// Returns whether two IDs identify the same object of the same store.
  public static func == (left: Self, right: Self) -> Bool {
    // Compares first what differs most often: numbers nearly always differ, stores almost never.
    left.number == right.number && left.entityName == right.entityName
      && left.storeID == right.storeID
  }

  /// Hashes the number and the entity name. The store's UUID rarely differs and is left out.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(entityName)
  }
}

extension ObjectID: CustomStringConvertible {
  private static let scheme = "arbor://"

  /// The text form, `arbor://<store-uuid>/<Entity>/<number>`.
  public var description: String {
    "\(Self.scheme)\(storeID.uuidString.lowercased())/\(entityName)/\(number)"
  }

  /// Creates an ID from its text form.
  ///
  /// - Throws: ``ArborError`` with code `invalidArgument` if the text doesn't have this form.
  public init(_ text: String) throws(ArborError) {
    let parts = text.dropFirst(Self.scheme.count)
      .split(separator: "/", omittingEmptySubsequences: false)
    guard text.hasPrefix(Self.scheme), parts.count == 3, !parts[1].isEmpty,
      let storeID = UUID(uuidString: String(parts[0])), let number = UInt64(parts[2]),
      (1...Self.maximumNumber).contains(number)
    else {
      throw ArborError(
        .invalidArgument,
        "This is not an object ID. Expected arbor://<store-uuid>/<Entity>/<number>.")
    }
    self.init(storeID: storeID, entityName: String(parts[1]), number: number)
  }
}

extension ObjectID: Codable {
  /// Decodes an ID from its text form in a single-value container.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(try container.decode(String.self))
    } catch let error as ArborError {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
    }
  }

  /// Encodes the text form into a single-value container.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
