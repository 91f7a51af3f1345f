import ArborModel
import ArborObjects
import Testing

/// Describes an employee whose properties are in another order than in the model, with some left
/// out.
private final class LeanEmployee: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Employee",
    attributes: [
      AttributeDescription(name: "age", type: .integer16),
      AttributeDescription(name: "name", type: .string),
    ],
    relationships: [RelationshipDescription(name: "company", destination: "Company")])

  var age: Int {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var name: String {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var company: ManagedObject? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}

private final class Reserved: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "Reserved", attributes: [AttributeDescription(name: "context", type: .string)])
  }
}

private final class OtherCompany: ManagedObject {
  override class var entityDescription: EntityDescription { EntityDescription(name: "Company") }
}

private final class Unknown: ManagedObject {
  override class var entityDescription: EntityDescription { EntityDescription(name: "Companyy") }
}

/// A class without a description between an entity's class and `ManagedObject`.
private class Undescribed: ManagedObject {}

private final class Described: Undescribed {
  override class var entityDescription: EntityDescription { EntityDescription(name: "Described") }
}

@Suite struct ClassBinderTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("title", .string, .optional)
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
      }
      EntityDescription("Employee") {
        AttributeDescription("name", .string, .default(""))
        AttributeDescription("salary", .double, .optional)
        AttributeDescription("age", .integer16, .default(18))
        RelationshipDescription("company", to: "Company", inverse: "employees")
      }
      EntityDescription("Trainee", parent: "Employee") {
        AttributeDescription("school", .string, .optional)
      }
    }
  }

  @Test("The properties of a class are bound to the model by name")
  func propertiesAreFoundByName() throws {
    try ObjectStore.use(model(), classes: [LeanEmployee.self]) { store in
      let context = store.makeContext()
      let employee = context.insert(LeanEmployee.self)
      (employee.name, employee.age) = ("Ada", 40)
      employee.company = try context.insert("Company")
      #expect(
        employee["name"] == "Ada" && employee["age"] == 40
          && employee["salary"] == PropertyValue.null)
      // A subentity without its own class is represented by its parent's class.
      let trainee = try #require(try context.insert("Trainee") as? LeanEmployee)
      trainee["school"] = "ETH"
      trainee.age = 20
      try context.commit()
      #expect(try store.makeContext().fetch(LeanEmployee.self).map(\.age).sorted() == [20, 40])
    }
  }

  @Test("A class that is bound late represents concrete subentities behind an abstract one, too")
  func lateClassWithAnAbstractSubentity() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Described")
      EntityDescription("Middle", parent: "Described", isAbstract: true)
      EntityDescription("Last", parent: "Middle")
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      #expect(context.insert(Described.self).entity.name == "Described")
      let last = try context.insert("Last")
      #expect(type(of: last) == Described.self)
      #expect(try context.count(Described.self) == 2)
      #expect(try context.fetch(Described.self).contains { $0 === last })
      try context.commit()
    }
  }

  @Test("Classes that contradict the model or each other are rejected")
  func contradictionsAreNamed() throws {
    let model = try model()
    func opening(_ classes: ManagedObject.Type...) throws -> ArborError {
      try failure { _ = try PersistentStore(model: model, at: .inMemory, classes: classes) }
    }
    let unknown = try opening(Unknown.self)
    #expect(unknown.code == .unknownName && unknown.message.contains("Company?"))
    #expect(try opening(Company.self).code == .modelMismatch)
    #expect(try opening(LeanEmployee.self, Employee.self).code == .invalidArgument)
    #expect(try opening(ManagedObject.self).code == .invalidArgument)
    try ObjectStore.use(model, classes: [OtherCompany.self]) { store in
      let company = try store.makeContext().insert("Company")
      #expect(type(of: company) == OtherCompany.self)
    }
  }

  @Test("A property whose name is reserved is rejected")
  func reservedNamesAreRefused() throws {
    let model = try ManagedObjectModel(entities: [Reserved.entityDescription]).validated()
    let error = try failure {
      _ = try PersistentStore(model: model, at: .inMemory, classes: [Reserved.self])
    }
    #expect(error.code == .invalidModel && error.keyPath == "context")
    let unmodelled = try failure { _ = try ManagedObjectModel(for: [Reserved.self]) }
    #expect(unmodelled.code == .invalidModel && unmodelled.keyPath == "context")
  }

  @Test("Accessing an attribute of the wrong slot or type stops the process")
  func wrongSlotsStopWithASentence() async {
    let slot = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = try PersistentStore(for: Office.classes, at: .inMemory)
      let company = store.makeContext().insert(Company.self)
      let _: String = company._attribute(7)
    }
    #expect(Self.text(slot).contains("Company uses slot 7 of its attributes"))
    let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = try PersistentStore(for: Office.classes, at: .inMemory)
      let company = store.makeContext().insert(Company.self)
      let _: Int = company._attribute(0)
    }
    #expect(Self.text(type).contains("cannot be accessed as Int. Correct the accessor's type."))
  }

  private static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test("A model built from classes contains their inheritance")
  func modelsFromClassesKnowTheirParents() throws {
    let model = try ManagedObjectModel(for: Office.classes)
    #expect(model.entity(named: "Manager")?.parent == "Employee")
    #expect(model.entity(named: "Employee")?.parent == "Person")
    #expect(model.entities.count == 7)
    #expect(
      try failure { _ = try ManagedObjectModel(for: [ManagedObject.self]) }.code == .invalidModel)
  }

  @Test("The error for a class without a description names the class")
  func classesWithoutADescriptionAreNamed() throws {
    let own = try failure { _ = try ManagedObjectModel(for: [Undescribed.self]) }
    #expect(own.code == .invalidModel)
    #expect(own.message == "Undescribed doesn't describe an entity. Mark it with @Entity.")
    let inherited = try failure { _ = try ManagedObjectModel(for: [Described.self]) }
    #expect(inherited.code == .invalidModel)
    #expect(
      inherited.message
        == "Undescribed, the superclass of Described, doesn't describe an entity. Mark it with "
        + "@Entity.")
  }
}
