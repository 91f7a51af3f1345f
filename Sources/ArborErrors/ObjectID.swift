public import Foundation

/// The permanent identity of one object in one store.
///
/// An ID exists from the moment an object is inserted, before its first commit, and never changes.
/// It is what crosses threads, processes and files in place of the object. Its text form is
/// `arbor://<store-uuid>/<Entity>/<number>`.
///
/// ```swift
/// let id = employee.objectID
/// let same = try ObjectID("\(id)")
/// ```
public struct ObjectID: Sendable, Hashable {
  /// The store the object belongs to.
  public let storeID: UUID
  /// The name of the object's entity: the concrete one, never a parent.
  public let entityName: String
  /// The object's number among its entity's objects, 1 … 2⁴⁸ − 1.
  public let number: UInt64

  /// Names an object of a store, which need not exist.
  ///
  /// - Parameters:
  ///   - storeID: The UUID of the store, as `PersistentStore.id` gives it.
  ///   - entityName: The object's concrete entity.
  ///   - number: The object's number among its entity's objects, 1 … 2⁴⁸ − 1.
  @inlinable
  public init(storeID: UUID, entityName: String, number: UInt64) {
    self.storeID = storeID
    self.entityName = entityName
    self.number = number
  }

  /// The greatest number of an object among those of its entity.
  @inlinable package static var maximumNumber: UInt64 { (1 << 48) - 1 }

  /// Whether two IDs name the same object of the same store.
  public static func == (left: Self, right: Self) -> Bool {
    // The number differs most often; the store nearly never.
    left.number == right.number && left.entityName == right.entityName
      && left.storeID == right.storeID
  }

  /// Feeds the identity into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(entityName)
  }
}

extension ObjectID: CustomStringConvertible {
  private static let scheme = "arbor://"

  /// `arbor://<store-uuid>/<Entity>/<number>`.
  public var description: String {
    "\(Self.scheme)\(storeID.uuidString.lowercased())/\(entityName)/\(number)"
  }

  /// Reads an ID from its text form.
  ///
  /// - Throws: ``ArborError`` with code `invalidArgument` for any other text.
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
  /// Reads the text form from a single-value container.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(try container.decode(String.self))
    } catch let error as ArborError {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
    }
  }

  /// Writes the text form into a single-value container.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
