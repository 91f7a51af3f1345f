import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Predicates with their plans and rows, on the population of ``PlannedPeople``: 200 people `p000`…
/// aged 0 to 99, and 800 employees `e000`… aged 0 to 99, of 20 companies, with badges 1 to 800.
@Suite struct QueryPlannerTests {
  @Test("A unique value is looked up in its index")
  func aUniqueValueIsLookedUp() throws {
    try assertFetch("Employee", "badge == 17") {
      """
      index Employee.badge: badge == 17 · 1 row
      """
    } rows: {
      "e016"
    }
    try assertFetch("Manager", "17 == badge") {
      """
      index Employee.badge: badge == 17 · 0 rows
      """
    } rows: {
      ""
    }
    try assertFetch("Employee", "name CONTAINS '1' AND badge == 17 AND age < 50") {
      """
      filter name CONTAINS "1" AND age < 50
      └ index Employee.badge: badge == 17 · 1 row
      """
    } rows: {
      "e016"
    }
  }

  @Test("A range of few rows is read from the index")
  func aRangeOfFewRowsIsReadFromTheIndex() throws {
    try assertFetch("Employee", "age >= 3 AND age < 5 AND badge < 200") {
      """
      filter badge < 200
      └ index Person.age: age >= 3 AND age <= 4 · 16 rows
      """
    } rows: {
      "e003 e004 e103 e104"
    }
  }

  @Test("A range of many rows is scanned or filtered")
  func aRangeOfManyRowsIsScanned() throws {
    try assertFetch("Employee", "age >= 10 AND age < 90 AND badge IN {11, 12}") {
      """
      filter age >= 10 AND age < 90
      └ index Employee.badge: badge IN 2 values · 2 rows
      """
    } rows: {
      "e010 e011"
    }
    try assertFetch("Employee", "age > 97 AND name CONTAINS '9'", limit: 3) {
      """
      limit 3
      └ filter name CONTAINS "9"
        └ index Person.age: age >= 98 · 16 rows
      """
    } rows: {
      "e098 e099 e198"
    }
    try assertFetch("Employee", "age > 50 AND name ENDSWITH '51'", limit: 2) {
      """
      limit 2
      └ filter age > 50 AND name ENDSWITH "51"
        └ scan Employee · 800 rows
      """
    } rows: {
      "e051 e151"
    }
  }

  @Test("A compound index serves equalities followed by one range")
  func aCompoundIndexServesEqualitiesAndOneRange() throws {
    try assertFetch("Employee", "company.name == 'c03' AND age == 3") {
      """
      filter company.name == "c03"
      └ index Person.age: age == 3 · 8 rows
      """
    } rows: {
      "e003 e103 e203 e303 e403 e503 e603 e703"
    }
    try assertFetch("Employee", "company == %@ AND age < 20", ["c03"]) {
      """
      index Employee.byCompanyAge: company == Company 4, age <= 19 · 8 rows
      """
    } rows: {
      "e003 e103 e203 e303 e403 e503 e603 e703"
    }
  }

  @Test("Prefixes and lists are ranges of an index")
  func prefixesAndListsAreRangesToo() throws {
    try assertFetch("Person", "name BEGINSWITH 'e01'") {
      """
      index Person.name: name BEGINSWITH "e01" · 10 rows
      """
    } rows: {
      "e010 e011 e012 e013 e014 e015 e016 e017 e018 e019"
    }
    try assertFetch("Person", "name IN {'p003', 'e001', 'p003', 'nobody'}") {
      """
      index Person.name: name IN 3 values · 2 rows
      """
    } rows: {
      "p003 e001"
    }
  }

  @Test("Objects are looked up by number")
  func objectsAreLookedUpByTheirNumbers() throws {
    try assertFetch("Employee", "SELF IN {%@, %@}", ["e005", "e002"]) {
      """
      objects Employee · about 2 rows
      """
    } rows: {
      "e002 e005"
    }
    try assertFetch("Employee", "SELF == %@", ["c01"]) {
      """
      objects Employee · about 0 rows
      """
    } rows: {
      ""
    }
  }

  @Test("A relationship without an index is read from its inverse")
  func aRelationshipWithoutIndexIsReadFromItsInverse() throws {
    try assertFetch("Employee", "mentor == %@ AND badge > 500", ["p003"]) {
      """
      filter badge > 500
      └ relationship Person.~Employee.mentor: of 1 object · 4 rows
      """
    } rows: {
      "e603"
    }
  }

  @Test("A sort order with a limit is read from an index")
  func sortOrdersComeFromAnIndexWithALimit() throws {
    try assertFetch("Person", nil, sortKeys: ["name"], limit: 3, offset: 1) {
      """
      limit 3 offset 1
      └ index Person.name: in order · about 4 rows
      """
    } rows: {
      "e001 e002 e003"
    }
    try assertFetch("Person", "name < 'f'", sortKeys: ["-name"], limit: 2) {
      """
      limit 2
      └ index Person.name: name < "f", backward · about 2 rows
      """
    } rows: {
      "e799 e798"
    }
    try assertFetch("Person", nil, sortKeys: ["-age", "name", "-score"], limit: 2) {
      """
      limit 2
      └ index Person.byAgeName: backward · about 2 rows
      """
    } rows: {
      "e099 e199"
    }
    try assertFetch("Employee", "company == %@", ["c03"], sortKeys: ["age"], limit: 2) {
      """
      limit 2
      └ index Employee.byCompanyAge: company == Company 4, backward · about 2 rows
      """
    } rows: {
      "e003 e103"
    }
  }

  @Test("Orders without an index are sorted")
  func otherOrdersAreSorted() throws {
    try assertFetch("Employee", "age == 7", sortKeys: ["company.name", "-badge"], limit: 2) {
      """
      limit 2
      └ sort company.name, -badge
        └ index Person.age: age == 7 · 8 rows
      """
    } rows: {
      "e707 e607"
    }
  }

  @Test("A condition that is always false reads nothing")
  func whatCanNotBeIsNotRead() throws {
    try assertFetch("Person", "FALSEPREDICATE") {
      """
      nothing · 0 rows
      """
    } rows: {
      ""
    }
  }

  @Test("Rows found by truncated keys are checked by their records")
  func cutKeysAreCheckedByTheRecord() throws {
    let people = try PlannedPeople()
    let long = String(repeating: "x", count: 600)
    try people.addPerson("long1", note: long + "a")
    try people.addPerson("long2", note: long + "b")
    let shown = "\"\(long.prefix(40))…\""
    try people.expect(
      "Person", "note == '\(long)b'",
      plan: """
        filter note == \(shown)
        └ index Person.note: note == \(shown) · 2 rows
        """, rows: "long2")
    try people.expect(
      "Person", "note BEGINSWITH 'x'", sortKeys: ["-note"], limit: 2,
      plan: """
        limit 2
        └ index Person.note: note BEGINSWITH "x", backward · about 2 rows
        """,
      givenUpFor: """
        limit 2
        └ sort -note
          └ index Person.note: note BEGINSWITH "x" · 2 rows
        """, rows: "long2 long1")
    try people.finish()
  }

  // MARK: Asking

  private func assertFetch(
    _ entity: String, _ text: String?, _ names: [String] = [], sortKeys: [SortKey] = [],
    limit: Int = 0, offset: Int = 0, plan: () -> String, rows: () -> String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let people = try PlannedPeople()
    try people.expect(
      entity, text, names, sortKeys: sortKeys, limit: limit, offset: offset, plan: plan(),
      rows: rows(), sourceLocation: sourceLocation)
    try people.finish()
  }
}
