import ArborData
import ArborMacros
import Foundation

@Entity(
  isAbstract: true, uniquenessConstraints: [["maker", "year"]],
  fetchIndexes: [
    FetchIndexDescription(
      name: "byMaker",
      elements: [.init("maker", kind: .folded), .init("year", isAscending: false)]),
    FetchIndexDescription(
      name: "young", elements: [.init("year")], partialIndexPredicate: "year > 2000",
      isUnique: true),
  ],
  renamedFrom: "Machine", versionHashModifier: "b", userInfo: ["key": "plate"],
  fetchedProperties: [
    FetchedPropertyDescription(
      name: "siblings",
      request: FetchRequestTemplate(
        name: "siblings", entity: "Vehicle", predicate: "maker == $FETCH_SOURCE.maker",
        fetchLimit: 5))
  ])
class Vehicle: ManagedObject {
  @Attribute(.unique, .indexed, .bounds(1...10), .pattern("[A-Z0-9 ]+")) var plate: String
  var maker: String?
  @Attribute(.bounds(1886...2100)) var year: Int16 = 1990
  var `class`: String = "say \"B\"\n\\"
  @Attribute(.renamed(from: "kilometres")) var mileage: Int64 = -9
  @Attribute(.preservedOnDeletion) var seats: Int32?
  var load: Float = 0.1
  @Attribute(.bounds(0.0...4.5)) var height: Double = 1e-07
  @Attribute(.bounds((Decimal(string: "0.5")!)...))
  var price: Decimal = Decimal(string: "12345678901234567890.12")!
  var isSold: Bool = true
  @Attribute(.bounds(Date(timeIntervalSinceReferenceDate: 0.0)...))
  var built: Date = Date(timeIntervalSinceReferenceDate: 86400.0)
  var key: UUID = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!
  var page: URL? = URL(string: "https://example.org/a?b=c")!
  @Attribute(.externalStorage) var photo: Data? = Data(base64Encoded: "AQI=")!
  @Attribute(.type(.transformable("Secure")), .valueClass("NSColor")) var color: Data?
  @Attribute(.type(.composite("Place"))) var place: PropertyValue?
  @Attribute(.transient) var extra: PropertyValue?
  @Attribute(.derived("tours.@count")) var tourCount: Int64 = 0
  @Relationship(.mandatory, .versionHashModifier("c"), inverse: "vehicles") var depot: Garage?
  @Relationship(.count(...9), inverse: "vehicle", deleteRule: .cascade) var tours: [Tour]
}

@Entity final class Truck: Vehicle {
  var axles: Int16 = 2
  @Relationship(.renamed(from: "cart"), inverse: "tractor") var trailer: Truck?
  @Relationship(inverse: "trailer", deleteRule: .deny) var tractor: Truck?
}

@Entity("Depot", uniquenessConstraints: [["city", "name"], ["name"]])
final class Garage: ManagedObject {
  var name: String
  var city: String?
  @Relationship(
    .count(1...), .userInfo(["a": "1", "b": "2"]), inverse: "depot", deleteRule: .noAction)
  var vehicles: Set<Vehicle>
}

@Entity final class Tour: ManagedObject {
  var number: Int64
  @Attribute(
    .json(.list(["at": .date, "say \"x\"": .any, "zip": .optional(.string)])), .default(.list([])))
  var stops: PropertyValue
  @Attribute(.json(.map(.list(.scalar(.integer(bits: 32, isSigned: false))))))
  var load: PropertyValue?
  @Attribute(.json(.cases([.string("calm"), .string("wi\"ld")]))) var mood: PropertyValue?
  @Attribute(
    .json(["grade": .optional(.cases([.integer(-1), .integer(2)])), "none": .object([:])]))
  var mark: PropertyValue?
  @Attribute(.json(.map(.any))) var notes: PropertyValue?
  @Attribute(.type(.json)) var free: PropertyValue?
  @Relationship(inverse: "tours") var vehicle: Vehicle?
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
