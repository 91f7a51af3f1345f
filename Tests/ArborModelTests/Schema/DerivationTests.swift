import ModelSamples
import Testing

@testable import ArborModel

@Suite struct DerivationTests {
  private static func schema() throws -> ModelSchema {
    let model = try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("name", .string)
        AttributeDescription("draft", .string, .transient)
        AttributeDescription("headcount", .integer32, .derived("employees.@count"))
        AttributeDescription("address", .composite("Address"), .optional)
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
        RelationshipDescription("branches", to: "Company", inverse: "parent", .toMany)
        RelationshipDescription("parent", to: "Company", inverse: "branches")
      }
      EntityDescription("Employee") {
        AttributeDescription("wage", .double)
        RelationshipDescription("company", to: "Company", inverse: "employees")
      }
      CompositeDescription("Address") { AttributeDescription("street", .string) }
    }
    return try SchemaFixture.schema(of: model)
  }

  private static func derivation(
    _ text: String, _ type: AttributeType = .string
  ) throws -> Derivation {
    let schema = try schema()
    let company = try schema.required("Company")
    guard case .attribute(let name)? = company.property(named: "name") else { throw Missing() }
    var description = name.description
    description.type = type
    let attribute = AttributeSchema(
      slot: name.slot, name: name.name, description: description, fieldIndex: name.fieldIndex,
      field: name.field)
    return try Derivation(attribute, text, of: company, in: schema)
  }

  private struct Missing: Error {}

  @Test(
    "A derivation lists the properties that it reads",
    arguments: [
      ("uppercase:(name)", AttributeType.string, [".name"]),
      ("parent.name", .string, [".parent", "parent.name"]),
      ("employees.@count", .integer32, [".employees"]),
      ("employees.@sum.wage", .double, [".employees", "employees.wage"]),
      ("branches.employees.@count", .integer32, [".branches", "branches.employees"]),
      (
        "parent.parent.employees.@max.wage", .double,
        [".parent", "parent.parent", "parent.parent.employees", "parent.parent.employees.wage"]
      ),
      (
        "SUBQUERY(employees, $e, $e.wage > length:(name)).@count", .integer32,
        [".employees", "employees.wage", ".name"]
      ),
      ("TERNARY(ANY employees.wage > 3, 1, 0)", .integer16, [".employees", "employees.wage"]),
      ("address.street", .string, [".address"]),
      ("7 + 1", .double, []),
    ])
  func tellsWhatItReads(text: String, type: AttributeType, reads: [String]) throws {
    let schema = try Self.schema()
    let derivation = try Self.derivation(text, type)
    let found = derivation.reads.map { read in
      var current = schema.entity(named: "Company")
      for hop in read.hops { current = schema.entities[hop.destination] }
      let property =
        switch read.property {
        case .attribute(let slot): current?.attributes[slot].name ?? ""
        case .toOne(let relationship), .members(let relationship): relationship.name
        }
      return (read.hops.map(\.name) + (read.hops.isEmpty ? [""] : []) + [property])
        .joined(separator: ".")
    }
    #expect(Set(found) == Set(reads))
    #expect(!derivation.isCommitDate)
  }

  @Test("A derivation that is the date of the commit is recognized")
  func recognizesTheCommitDate() throws {
    #expect(try Self.derivation("now()", .date).isCommitDate)
  }

  @Test(
    "A derivation that cannot be kept current is rejected",
    arguments: [
      ("headcount + 1", AttributeType.double, "itself derived"),
      ("draft", .string, "transient"),
      ("employees.wage", .double, "many values"),
      ("employees", .double, "many values"),
      ("random()", .double, "random"),
      ("TERNARY(name == 'x', now(), now())", .date, "now() in a larger expression"),
      ("TERNARY(name ==[l] 'x', 1, 2)", .double, "rules of a locale"),
      ("TERNARY(name MATCHES 'x+', 1, 2)", .double, "regular expression"),
      (
        "SUBQUERY(employees, $e, $e.company.name MATCHES 'x+').@count", .double,
        "regular expression"
      ),
      ("FUNCTION(name, 'turn:')", .string, "function"),
      ("name", .double, "a string, but the attribute takes a number"),
      ("length:(name)", .date, "a number, but the attribute takes a date"),
      ("name AS title", .string, "remove as"),
      ("nam", .string, "name"),
      ("name +", .string, "expected"),
    ])
  func refusesWhatCannotBeKeptCurrent(text: String, type: AttributeType, says: String) throws {
    let error = try #require(throws: ArborError.self) { try Self.derivation(text, type) }
    #expect(error.message.lowercased().contains(says), "\(error.message)")
  }

  @Test("The plan lists the derivations that a change triggers")
  func thePlanTellsWhatAChangeChanges() throws {
    let schema = try Self.schema()
    let plan = try schema.derivationPlan()
    let company = try schema.required("Company")
    #expect(schema.hasDerivations)
    #expect(plan.derivations.map(\.count).reduce(0, +) == 1)
    #expect(plan.triggers[company.index].count == 1)
    #expect(plan.triggers[company.index].first?.hops.isEmpty == true)
    let employee = try schema.required("Employee")
    #expect(plan.triggers[employee.index].allSatisfy { $0.bits == 1 })
  }
}
