import ArborModel
import ArborObjects
import Foundation
import Testing

/// The names of key paths, tested with sort keys.
@Suite struct PathTracerTests {
  private func name<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>
  ) throws -> String {
    let key = SortKey(keyPath)
    if let failure = key.failure { throw failure.error }
    return key.keyPath
  }

  private func refuses<Property>(_ keyPath: KeyPath<Worker, Property>) {
    let error = #expect(throws: ArborError.self, "\(keyPath)") { try name(keyPath) }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.message.contains("entityDescription") == true)
  }

  @Test("Key paths of every kind of property are traced")
  func everyKindOfPropertyHasItsName() throws {
    #expect(try name(\Employee.age) == "age")
    #expect(try name(\Employee.salary) == "salary")
    #expect(try name(\Employee.rank) == "rank")
    #expect(try name(\Employee.mood) == "mood")
    #expect(try name(\Employee.employeeID) == "employeeID")
    #expect(try name(\Employee.company) == "company")
    #expect(try name(\Employee.skills) == "skills")
    #expect(try name(\Employee.tasks) == "tasks")
    #expect(try name(\Company.founded) == "founded")
    #expect(try name(\Manager.bonus) == "bonus")
    #expect(try name(\Badge.code) == "code")
    #expect(try name(\Badge.photo) == "photo")
    #expect(try name(\Badge.page) == "page")
    #expect(try name(\Badge.isActive) == "isActive")
    #expect(try name(\Badge.weight) == "weight")
  }

  @Test("Key paths of inherited properties are traced")
  func inheritedPropertiesHaveTheirNames() throws {
    #expect(try name(\Employee.name) == "name")
    #expect(try name(\Manager.nick) == "nick")
    #expect(try name(\Manager.age) == "age")
    #expect(try name(\Manager.company) == "company")
  }

  @Test("Key paths through relationships are traced")
  func pathsGoThroughRelationships() throws {
    #expect(try name(\Employee.company?.name) == "company.name")
    #expect(try name(\Employee.manager?.manager?.age) == "manager.manager.age")
    #expect(try name(\Employee.manager?.company?.founded) == "manager.company.founded")
    #expect(try name(\Employee.manager?.reports) == "manager.reports")
    #expect(try name(\Employee.company!.name) == "company.name")
    #expect(try name(\Employee.badge?.employee?.badge?.code) == "badge.employee.badge.code")
  }

  @Test("Key paths of object IDs and entity names are traced")
  func identityAndEntityHaveTheirNames() throws {
    #expect(try name(\Employee.objectID) == "objectID")
    #expect(try name(\Employee.company?.objectID) == "company.objectID")
    #expect(try name(\Employee.entity.name) == "entity.name")
    #expect(try name(\Employee.companyID) == "company")
    #expect(try name(\Employee.manager?.companyID) == "manager.company")
  }

  @Test("Key paths of computed properties are rejected")
  func computedPropertiesAreRefused() throws {
    refuses(\Worker.shout)
    refuses(\Worker.isAdult)
    refuses(\Worker.cappedAge)
    refuses(\Worker.nextAge)
    refuses(\Worker.both)
    refuses(\Worker.fixed)
    refuses(\Worker.friendCount)
    refuses(\Worker.plain)
    refuses(\Worker.isFault)
    refuses(\Worker.oldFriends)
    refuses(\Worker.isRetired)
    refuses(\Worker.name.count)
    #expect(try name(\Worker.age) == "age")
    // An alias of a property has the name of the property.
    #expect(try name(\Worker.years) == "age")
  }

  @Test("Key paths of properties with enumeration types can be traced")
  func valuesThatNoCaseHasAreMadeUp() throws {
    #expect(try name(\Worker.grade) == "grade")
    #expect(try name(\Worker.level) == "level")
    #expect(try name(\Worker.secondGrade) == "secondGrade")
  }

  @Test("A property whose name the class provides isn't traced")
  func whatAClassTellsIsNotFollowed() throws {
    // There is no placeholder value for the type, so calling the accessor would crash.
    #expect(try name(\Parcel.label) == "label")
    #expect(try name(\Parcel.weight) == "weight")
    #expect(try name(\Parcel.next?.weight) == "next.weight")
  }

  @Test("A class without an entity description is rejected")
  func classesWithoutDescriptionAreRefused() {
    let error = #expect(throws: ArborError.self) { try name(\Nameless.anything) }
    #expect(error?.message.contains("entityDescription") == true)
  }
}

/// A class with properties that are not in the model.
private final class Worker: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Worker", className: "Worker",
    attributes: [
      AttributeDescription(name: "name", type: .string),
      AttributeDescription(name: "age", type: .integer16),
      AttributeDescription(name: "isActive", type: .boolean),
      AttributeDescription(name: "grade", type: .string),
      AttributeDescription(name: "level", type: .integer32),
      AttributeDescription(name: "secondGrade", type: .string, isOptional: true),
    ],
    relationships: [
      RelationshipDescription(name: "friends", destination: "Worker", isToMany: true)
    ])

  enum Grade: String, AttributeValue { case low, high }
  enum Level: Int, AttributeValue, CaseIterable { case one = 1, two }

  var name: String { _attribute(0) }
  var age: Int { _attribute(1) }
  var isActive: Bool { _attribute(2) }
  var grade: Grade { _attribute(3) }
  var level: Level { _attribute(4) }
  var secondGrade: Grade? { _attribute(5) }
  var friends: Set<Worker> { _toMany(0) }

  var years: Int { age }
  var shout: String { name.uppercased() }
  var isAdult: Bool { age >= 18 }
  var isRetired: Bool { !isActive }
  var cappedAge: Int { min(age, 100) }
  var nextAge: Int { age + 1 }
  var both: String { isActive ? name : "" }
  var fixed: Int { 5 }
  var friendCount: Int { friends.count }
  var oldFriends: Set<Worker> { friends.filter { $0.age > 60 } }
  var plain = ""
}

/// A class that provides the name of a property.
private final class Parcel: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Parcel", className: "Parcel",
    attributes: [
      AttributeDescription(name: "label", type: .string),
      AttributeDescription(name: "weight", type: .double),
    ],
    relationships: [RelationshipDescription(name: "next", destination: "Parcel")])
  override class var propertyNames: [AnyKeyPath: String] { [\Parcel.label: "label"] }

  /// A type whose values must have a certain form, so that no placeholder can be created.
  struct Label: RawRepresentable, AttributeValue {
    let rawValue: String
    init?(rawValue: String) {
      guard rawValue.hasPrefix("P-") else { return nil }
      self.rawValue = rawValue
    }
  }

  var label: Label { _attribute(0) }
  var weight: Double { _attribute(1) }
  var next: Parcel? { _toOne(0) }
}

private final class Nameless: ManagedObject {
  var anything: String { "" }
}
