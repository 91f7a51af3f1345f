import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation

/// The models for tests of JSON.
struct Banner: ValueModel, Equatable {
  var bannerID: Int
  var picURL: URL?
  var children: [Item]
  var cached: Bool?
  static let uniquingKeys: Set<String> = ["bannerID"]
  static let managedKeys: ValueModelMapping = .identity.renaming(["bannerID": "id"]).excluding(
    "cached")
  static let jsonKeyPaths: JSONKeyPaths = ["bannerID": "id", "picURL": "images.small"]
}

struct Item: ValueModel, Hashable {
  var title: String
  var price: Decimal?
}

/// A model with a property of each type that is encoded differently.
struct Sample: ValueModel, Equatable {
  enum Level: String, Codable { case low, high }
  enum Rank: Int, Codable { case first = 1, second }
  struct Size: Codable, Equatable { var width: Int, height: Int }

  var flag: Bool?
  var tiny: Int8?
  var short: Int16?
  var middle: Int32?
  var long: Int64?
  var whole: Int?
  var unsignedTiny: UInt8?
  var unsignedShort: UInt16?
  var unsignedMiddle: UInt32?
  var unsignedLong: UInt64?
  var unsigned: UInt?
  var single: Float?
  var double: Double?
  var decimal: Decimal?
  var text: String?
  var date: Date?
  var data: Data?
  var url: URL?
  var uuid: UUID?
  var level: Level?
  var rank: Rank?
  var size: Size?
  var list: [Int]?
  var set: Set<String>?
  var table: [String: Double]?
}

/// A class cluster.
class Shape: ValueModel {
  var name: String
  class var entityName: String { "Shape" }

  init(name: String) { self.name = name }

  class func modelType(for object: ManagedObject) -> (any ValueModel.Type)? {
    switch object["name"] as PropertyValue {
    case "none": nil
    case "banner": Banner.self
    default:
      switch object.entity.name {
      case "Circle": Circle.self
      case "Square": Square.self
      default: Shape.self
      }
    }
  }

  class func modelType(for json: JSONValue) -> (any ValueModel.Type)? {
    switch json["type"]?.string {
    case "circle": Circle.self
    case "square": Square.self
    case "banner": Banner.self
    case "shape": Shape.self
    default: nil
    }
  }
}

final class Circle: Shape {
  enum CodingKeys: String, CodingKey { case radius }
  var radius = 0.0
  override class var entityName: String { "Circle" }

  required init(from decoder: any Decoder) throws {
    radius = try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .radius)
    try super.init(from: decoder)
  }

  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(radius, forKey: .radius)
  }
}

final class Square: Shape {
  enum CodingKeys: String, CodingKey { case side }
  var side = 0
  override class var entityName: String { "Square" }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    side = try container.decode(Int.self, forKey: .side)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(side, forKey: .side)
    try super.encode(to: container.superEncoder())
  }
}
