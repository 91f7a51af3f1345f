import ArborData
import Foundation

/// A model that covers what the ledger lacks: an ordered relationship and external binaries.
final class Album: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Album", className: "Album",
    attributes: [AttributeDescription(name: "round", type: .integer64, defaultValue: 0)],
    relationships: [
      RelationshipDescription(
        name: "pictures", destination: "Picture", inverse: "album", isToMany: true,
        isOrdered: true, deleteRule: .cascade)
    ])

  /// The number of the last committed round.
  var round: Int {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var pictures: [Picture] {
    get { _orderedToMany(0) }
    set { _setOrderedToMany(0, newValue) }
  }
}

/// A picture, which may belong to an album.
final class Picture: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Picture", className: "Picture",
    attributes: [
      AttributeDescription(name: "number", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "version", type: .integer64, defaultValue: 0),
      AttributeDescription(
        name: "image", type: .binary, isOptional: true, allowsExternalStorage: true),
    ],
    relationships: [
      RelationshipDescription(
        name: "album", destination: "Album", inverse: "pictures", isOptional: true)
    ],
    uniquenessConstraints: [["number"]], userInfo: ["PrimaryAttribute": "number"])

  var number: Int {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var version: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var image: Data? {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var album: Album? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}
