import ArborData
import ArborMacros

@Entity final class Company: ManagedObject {
  @Attribute(.unique) var companyID: Int64 = 0
  var companyName: String = ""
  @Relationship(inverse: "company", deleteRule: .cascade) var employees: Set<Employee>
}
@Entity final class Employee: ManagedObject {
  @Attribute(.indexed) var age: Int = 18
  var name: String = ""
  @Relationship(inverse: "employees") var company: Company?
}
