import ArborErrors
import Foundation
import Testing

@Suite struct ArborErrorTests {
  private struct Beneath: Error {}

  @Test("An error describes its location, message and violations")
  func describesLocationMessageAndViolations() {
    var error = ArborError(.invalidModel, "The model has 2 problems; correct them.")
    error.location = ArborError.SourceLocation(source: "World/contents", line: 3, column: 5)
    error.violations = [
      ArborError(.invalidModel, "One; do this."),
      ArborError(.invalidModel, "Two; do that.")
        .with(location: .init(line: 9, column: 1, path: "$.entities")),
    ]
    #expect(
      error.description == """
        World/contents:3:5: The model has 2 problems; correct them.
        - One; do this.
        - 9:1 ($.entities): Two; do that.
        """)
  }

  @Test("Values are only in the debug description")
  func valuesAreInTheDebugDescriptionOnly() throws {
    let id = ObjectID(storeID: UUID(), entityName: "Person", number: 3)
    let error = ArborError(.typeMismatch, "The value does not fit; give a number.").with(
      entity: "Person", objectID: id, keyPath: "age", offending: "secret", underlying: Beneath())
    #expect(!error.description.contains("secret"))
    let parts = [
      "typeMismatch: ", "[entity Person]", "[object \(id)]", "[key path age]", "[value secret]",
      "[underlying: Beneath()]",
    ]
    for part in parts { #expect(error.debugDescription.contains(part), "\(part)") }
  }

  @Test("A single violation is printed once")
  func aSingleViolationIsPrintedOnce() {
    let id = ObjectID(storeID: UUID(), entityName: "Person", number: 3)
    let violation = ArborError(.validation, "Person.age has no value; set one.").with(
      entity: "Person", objectID: id, keyPath: "age", identity: "code \"A\"")
    var error = violation
    error.violations = [violation]
    #expect(error.description == "Person.age has no value; set one. (Person 3)")
    #expect(
      error.debugDescription == """
        validation: Person.age has no value; set one. (Person 3) [entity Person] [object \(id)] \
        [unique code "A"] [key path age]
        """)
    error = ArborError(.validation, "The changes break 2 rules; correct the objects.")
    error.violations = [violation, ArborError(.notUnique, "Person 3 and Person 4 are the same.")]
    #expect(
      error.description == """
        The changes break 2 rules; correct the objects.
        - Person.age has no value; set one. (Person 3)
        - Person 3 and Person 4 are the same.
        """)
    #expect(error.debugDescription.contains("(Person 3) [entity Person]"))
  }

  @Test("The description lists twenty violations and the number of all others")
  func longListsAreCut() {
    var error = ArborError(.validation, "The changes violate 20001 rules. Correct the objects.")
    error.violations = (0..<20_001).map { ArborError(.validation, "Violation \($0).") }
    var lines = error.description.split(separator: "\n")
    #expect(lines.count == 22)
    #expect(lines[1] == "- Violation 0." && lines[20] == "- Violation 19.")
    #expect(lines[21] == "- and 19981 more")
    #expect(error.debugDescription.split(separator: "\n").count == 22)
    #expect(error.violations.count == 20_001)
    error.violations.removeLast(19_981)
    lines = error.description.split(separator: "\n")
    #expect(lines.count == 21 && lines[20] == "- Violation 19.")
  }

  @Test("Sentences are converted to clauses")
  func sentencesBecomeClauses() {
    #expect("The header is damaged.".asClause == "the header is damaged")
    #expect("Another program wrote to it..".asClause == "another program wrote to it")
    #expect(
      "Ada is missing".asClause == "Ada is missing" && "".asClause == "" && ".".asClause == "")
  }

  @Test("Adding fields keeps those that were set before")
  func furtherFieldsKeepWhatWasSet() {
    let error = ArborError(.validation, "No.").with(entity: "Person", keyPath: "age")
    #expect(error.with(keyPath: "name").entity == "Person")
    #expect(error.with(entity: "Company").keyPath == "age")
  }

  @Test("Error codes are compared by name")
  func codesCompareByName() {
    #expect(ArborError.Code(rawValue: "diskFull") == .diskFull)
    #expect("\(ArborError.Code.diskFull)" == "diskFull")
  }
}
