import ArborData
import Foundation

class Vehicle: ManagedObject {
  override class var entityDescription: EntityDescription { describedEntity }
  override class var entityName: String { "Vehicle" }
  override class var attributeCount: Int { 18 }
  override class var relationshipCount: Int { 2 }
  private static let describedEntity = EntityDescription(
    name: "Vehicle", className: "Vehicle", isAbstract: true,
    attributes: [
      AttributeDescription(
        "plate", String.self, .indexed, .bounds(1...10), .pattern("[A-Z0-9 ]+")),
      AttributeDescription("maker", String?.self),
      AttributeDescription("year", Int16.self, default: 1990, .bounds(1886...2100)),
      AttributeDescription("class", String.self, default: "say \"B\"\n\\"),
      AttributeDescription("mileage", Int64.self, default: -9, .renamed(from: "kilometres")),
      AttributeDescription("seats", Int32?.self, .preservedOnDeletion),
      AttributeDescription("load", Float.self, default: 0.1),
      AttributeDescription("height", Double.self, default: 1e-07, .bounds(0.0...4.5)),
      AttributeDescription(
        "price", Decimal.self, default: Decimal(string: "12345678901234567890.12")!,
        .bounds((Decimal(string: "0.5")!)...)),
      AttributeDescription("isSold", Bool.self, default: true),
      AttributeDescription(
        "built", Date.self, default: Date(timeIntervalSinceReferenceDate: 86400.0),
        .bounds(Date(timeIntervalSinceReferenceDate: 0.0)...)),
      AttributeDescription(
        "key", UUID.self, default: UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!),
      AttributeDescription("page", URL?.self, default: URL(string: "https://example.org/a?b=c")!),
      AttributeDescription(
        "photo", Data?.self, default: Data(base64Encoded: "AQI=")!, .externalStorage),
      AttributeDescription(
        "color", Data?.self, .type(.transformable("Secure")), .valueClass("NSColor")),
      AttributeDescription("place", PropertyValue?.self, .type(.composite("Place"))),
      AttributeDescription("extra", PropertyValue?.self, .transient),
      AttributeDescription("tourCount", Int64.self, default: 0, .derived("tours.@count")),
    ],
    relationships: [
      RelationshipDescription(
        "depot", Garage?.self, of: Vehicle.self, inverse: "vehicles", at: \.vehicles, .mandatory,
        .versionHashModifier("c")),
      RelationshipDescription(
        "tours", [Tour].self, of: Vehicle.self, inverse: "vehicle", at: \.vehicle, .count(...9),
        deleteRule: .cascade),
    ],
    fetchIndexes: [
      FetchIndexDescription(
        name: "byMaker",
        elements: [.init("maker", kind: .folded), .init("year", isAscending: false)]),
      FetchIndexDescription(
        name: "young", elements: [.init("year")], partialIndexPredicate: "year > 2000",
        isUnique: true),
    ],
    uniquenessConstraints: [["plate"]] + [["maker", "year"]],
    userInfo: ["key": "plate"],
    renamingIdentifier: "Machine",
    versionHashModifier: "b",
    fetchedProperties: [
      FetchedPropertyDescription(
        name: "siblings",
        request: FetchRequestTemplate(
          name: "siblings", entity: "Vehicle", predicate: "maker == $FETCH_SOURCE.maker",
          fetchLimit: 5))
    ])
  override class var propertyNames: [AnyKeyPath: String] {
    [
      \Vehicle.plate: "plate",
      \Vehicle.maker: "maker",
      \Vehicle.year: "year",
      \Vehicle.`class`: "class",
      \Vehicle.mileage: "mileage",
      \Vehicle.seats: "seats",
      \Vehicle.load: "load",
      \Vehicle.height: "height",
      \Vehicle.price: "price",
      \Vehicle.isSold: "isSold",
      \Vehicle.built: "built",
      \Vehicle.key: "key",
      \Vehicle.page: "page",
      \Vehicle.photo: "photo",
      \Vehicle.color: "color",
      \Vehicle.place: "place",
      \Vehicle.extra: "extra",
      \Vehicle.tourCount: "tourCount",
      \Vehicle.depot: "depot",
      \Vehicle.tours: "tours",
    ]
  }

  var plate: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var maker: String? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var year: Int16 {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var `class`: String {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var mileage: Int64 {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var seats: Int32? {
    get { _attribute(5) }
    set { _setAttribute(5, newValue) }
  }
  var load: Float {
    get { _attribute(6) }
    set { _setAttribute(6, newValue) }
  }
  var height: Double {
    get { _attribute(7) }
    set { _setAttribute(7, newValue) }
  }
  var price: Decimal {
    get { _attribute(8) }
    set { _setAttribute(8, newValue) }
  }
  var isSold: Bool {
    get { _attribute(9) }
    set { _setAttribute(9, newValue) }
  }
  var built: Date {
    get { _attribute(10) }
    set { _setAttribute(10, newValue) }
  }
  var key: UUID {
    get { _attribute(11) }
    set { _setAttribute(11, newValue) }
  }
  var page: URL? {
    get { _attribute(12) }
    set { _setAttribute(12, newValue) }
  }
  var photo: Data? {
    get { _attribute(13) }
    set { _setAttribute(13, newValue) }
  }
  var color: Data? {
    get { _attribute(14) }
    set { _setAttribute(14, newValue) }
  }
  var place: PropertyValue? {
    get { _attribute(15) }
    set { _setAttribute(15, newValue) }
  }
  var extra: PropertyValue? {
    get { _attribute(16) }
    set { _setAttribute(16, newValue) }
  }
  var tourCount: Int64 { _attribute(17) }
  var depot: Garage? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
  var tours: [Tour] {
    get { _orderedToMany(1) }
    set { _setOrderedToMany(1, newValue) }
    _modify {
      var change = _changeOrderedToMany(1, [Tour].self)
      defer { change.finish() }
      yield &change.members
    }
  }
}

final class Truck: Vehicle {
  override class var entityDescription: EntityDescription { describedEntity }
  override class var entityName: String { "Truck" }
  override class var attributeCount: Int { Vehicle.attributeCount + 1 }
  override class var relationshipCount: Int { Vehicle.relationshipCount + 2 }
  private static let describedEntity = EntityDescription(
    name: "Truck", className: "Truck",
    attributes: [
      AttributeDescription("axles", Int16.self, default: 2)
    ],
    relationships: [
      RelationshipDescription(
        "trailer", Truck?.self, of: Truck.self, inverse: "tractor", at: \.tractor,
        .renamed(from: "cart")),
      RelationshipDescription(
        "tractor", Truck?.self, of: Truck.self, inverse: "trailer", at: \.trailer,
        deleteRule: .deny),
    ])
  override class var propertyNames: [AnyKeyPath: String] {
    [\Truck.axles: "axles", \Truck.trailer: "trailer", \Truck.tractor: "tractor"]
  }

  var axles: Int16 {
    get { _attribute(Vehicle.attributeCount + 0) }
    set { _setAttribute(Vehicle.attributeCount + 0, newValue) }
  }
  var trailer: Truck? {
    get { _toOne(Vehicle.relationshipCount + 0) }
    set { _setToOne(Vehicle.relationshipCount + 0, newValue) }
  }
  var tractor: Truck? {
    get { _toOne(Vehicle.relationshipCount + 1) }
    set { _setToOne(Vehicle.relationshipCount + 1, newValue) }
  }
}

final class Garage: ManagedObject {
  override class var entityDescription: EntityDescription { describedEntity }
  override class var entityName: String { "Depot" }
  override class var attributeCount: Int { 2 }
  override class var relationshipCount: Int { 1 }
  private static let describedEntity = EntityDescription(
    name: "Depot", className: "Garage",
    attributes: [
      AttributeDescription("name", String.self),
      AttributeDescription("city", String?.self),
    ],
    relationships: [
      RelationshipDescription(
        "vehicles", Set<Vehicle>.self, of: Garage.self, inverse: "depot", at: \.depot,
        .count(1...), .userInfo(["a": "1", "b": "2"]), deleteRule: .noAction)
    ],
    uniquenessConstraints: [["city", "name"], ["name"]])
  override class var propertyNames: [AnyKeyPath: String] {
    [\Garage.name: "name", \Garage.city: "city", \Garage.vehicles: "vehicles"]
  }

  var name: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var city: String? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var vehicles: Set<Vehicle> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
    _modify {
      var change = _changeToMany(0, Set<Vehicle>.self)
      defer { change.finish() }
      yield &change.members
    }
  }
}

final class Tour: ManagedObject {
  override class var entityDescription: EntityDescription { describedEntity }
  override class var entityName: String { "Tour" }
  override class var attributeCount: Int { 7 }
  override class var relationshipCount: Int { 1 }
  private static let describedEntity = EntityDescription(
    name: "Tour", className: "Tour",
    attributes: [
      AttributeDescription("number", Int64.self),
      AttributeDescription(
        "stops", PropertyValue.self,
        .json(.list(["at": .date, "say \"x\"": .any, "zip": .optional(.string)])),
        .default(.list([]))),
      AttributeDescription(
        "load", PropertyValue?.self,
        .json(.map(.list(.scalar(.integer(bits: 32, isSigned: false)))))),
      AttributeDescription(
        "mood", PropertyValue?.self, .json(.cases([.string("calm"), .string("wi\"ld")]))),
      AttributeDescription(
        "mark", PropertyValue?.self,
        .json(["grade": .optional(.cases([.integer(-1), .integer(2)])), "none": .object([:])])),
      AttributeDescription("notes", PropertyValue?.self, .json(.map(.any))),
      AttributeDescription("free", PropertyValue?.self, .type(.json)),
    ],
    relationships: [
      RelationshipDescription(
        "vehicle", Vehicle?.self, of: Tour.self, inverse: "tours", at: \.tours)
    ])
  override class var propertyNames: [AnyKeyPath: String] {
    [
      \Tour.number: "number",
      \Tour.stops: "stops",
      \Tour.load: "load",
      \Tour.mood: "mood",
      \Tour.mark: "mark",
      \Tour.notes: "notes",
      \Tour.free: "free",
      \Tour.vehicle: "vehicle",
    ]
  }

  var number: Int64 {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var stops: PropertyValue {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var load: PropertyValue? {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var mood: PropertyValue? {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var mark: PropertyValue? {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var notes: PropertyValue? {
    get { _attribute(5) }
    set { _setAttribute(5, newValue) }
  }
  var free: PropertyValue? {
    get { _attribute(6) }
    set { _setAttribute(6, newValue) }
  }
  var vehicle: Vehicle? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}

/// The entire model: the classes above, and the parts of it that classes cannot declare.
enum FleetModel {
  static let classes: [ManagedObject.Type] = [Vehicle.self, Truck.self, Garage.self, Tour.self]

  static func make() throws(ArborError) -> ManagedObjectModel {
    try ManagedObjectModel(for: classes, versionIdentifier: "3") {
      CompositeDescription("Place") {
        AttributeDescription("latitude", .double)
        AttributeDescription("name", .string, .optional, .bounds(...40))
      }
      ManagedObjectModel.Configuration("Cloud", entities: ["Depot", "Tour"])
      FetchRequestTemplate(
        name: "old", entity: "Vehicle", predicate: "year < $YEAR", fetchLimit: 10,
        fetchBatchSize: 5, includesSubentities: false, returnsDistinctResults: true,
        resultType: .rows)
      FetchRequestTemplate(name: "all", entity: "Tour")
    }
  }
}
