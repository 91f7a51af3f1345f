import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct SortKeyKeyPathTests {
  @Test func keyPathsMakeKeys() throws {
    #expect(try SortKey(\Employee.age) == .ascending("age"))
    #expect(try SortKey(\Employee.age, .descending) == "-age")
    #expect(try .ascending(\Employee.name) == SortKey("name"))
    #expect(
      try .descending(\Employee.company?.name, options: [.caseInsensitive, .numeric])
        == SortKey.descending("company.name", options: [.caseInsensitive, .numeric]))
  }

  @Test func descriptorsMakeKeys() throws {
    #expect(try SortKey(SortDescriptor(\Employee.age)) == "age")
    #expect(try SortKey(SortDescriptor(\Employee.name, order: .reverse)) == "-name")
    #expect(try SortKey(SortDescriptor(\Manager.salary, order: .reverse)) == "-salary")
    #expect(try SortKey(SortDescriptor(\Employee.name, comparator: .lexical)) == "name")
  }

  @Test func computedPropertiesAreRefused() {
    #expect(throws: ArborError.self) { try SortKey(\Employee.calls.count) }
    #expect(throws: ArborError.self) { try SortKey(SortDescriptor(\Employee.name.count)) }
  }

  @Test func keysFromKeyPathsOrderResults() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      for (name, age) in [("a", 30), ("b", 20), ("c", 30)] {
        let employee = context.insert(Employee.self)
        (employee.name, employee.age) = (name, age)
      }
      let request = FetchRequest<Employee>(
        sortKeys: try [.descending(\Employee.age), SortKey(SortDescriptor(\Employee.name))])
      #expect(try context.fetch(request).map(\.name) == ["a", "c", "b"])
    }
  }
}
