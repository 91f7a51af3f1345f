import ArborLocale
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct SortKeyKeyPathTests {
  @Test("Sort keys are created from key paths")
  func keyPathsMakeKeys() throws {
    #expect(SortKey(\Employee.age) == .ascending("age"))
    #expect(SortKey(\Employee.age, .descending) == "-age")
    #expect(.ascending(\Employee.name) == SortKey("name"))
    #expect(
      .descending(\Employee.company?.name, options: [.caseInsensitive, .numeric])
        == SortKey.descending("company.name", options: [.caseInsensitive, .numeric]))
    let key = SortKey(\Employee.company?.name, .descending)
    #expect("\(key)" == "company.name descending")
  }

  @Test("Sort keys are created from sort descriptors")
  func descriptorsMakeKeys() throws {
    #expect(SortKey(SortDescriptor(\Employee.age)) == "age")
    #expect(SortKey(SortDescriptor(\Employee.name, order: .reverse)) == "-name")
    #expect(SortKey(SortDescriptor(\Manager.salary, order: .reverse)) == "-salary")
    #expect(SortKey(SortDescriptor(\Employee.name, comparator: .lexical)) == "name")
  }

  @Test("Computed properties are refused")
  func computedPropertiesAreRefused() throws {
    try ObjectStore.useOffice { store throws in
      let employees = store.makeContext().objects(Employee.self)
      for key in [SortKey(\Employee.calls.count), SortKey(SortDescriptor(\Employee.name.count))] {
        for key in [key, key.reversed] {
          let error = try failure { _ = try employees.order(by: key).fetch() }
          #expect(error.code == .invalidPredicate)
          #expect(
            error.message
              == "The key path from Employee to Int doesn't consist of properties in the "
              + "entityDescription of Employee. Use properties that read a single attribute or "
              + "relationship, or parts of a Codable value; enumerations among them must be "
              + "CaseIterable.")
          #expect("\(key)" == "invalid sort key: \(error.message)")
        }
      }
      #expect(throws: ArborError.self) { try employees.order(by: \.name.count).first() }
    }
  }

  @Test("A query can be sorted by a key path")
  func aQueryIsOrderedByAKeyPath() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      for (name, age) in [("a", 30), ("B", 20), ("c", 30)] {
        let employee = context.insert(Employee.self)
        (employee.name, employee.age) = (name, age)
      }
      let employees = context.objects(Employee.self)
      #expect(try employees.order(by: \.age).first()?.name == "B")
      #expect(try employees.order(by: \.name, .descending).fetch().map(\.name) == ["c", "a", "B"])
      let folded = employees.order(by: \.name, options: .caseInsensitive)
      #expect(try folded.fetch().map(\.name) == ["a", "B", "c"])
    }
  }

  @Test("Sort keys from key paths sort fetched objects")
  func keysFromKeyPathsOrderResults() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      for (name, age) in [("a", 30), ("b", 20), ("c", 30)] {
        let employee = context.insert(Employee.self)
        (employee.name, employee.age) = (name, age)
      }
      let request = FetchRequest<Employee>(
        sortKeys: [.descending(\Employee.age), SortKey(SortDescriptor(\Employee.name))])
      #expect(try context.fetch(request).map(\.name) == ["a", "c", "b"])
    }
  }
}
