import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Plans that combine several access paths, on the population of ``PlannedPeople``: unions,
/// intersections, and conditions on related objects.
@Suite struct AccessPathSelectionTests {
  // MARK: Unions

  @Test("Equalities on one property are combined into a single lookup")
  func equalitiesOfOnePropertyAreOneLook() throws {
    try assertFetch("Employee", "badge == 11 OR badge IN {12, 900} OR 13 == badge") {
      """
      index Employee.badge: badge IN 4 values · 3 rows
      """
    } rows: {
      "e010 e011 e012"
    }
    try assertFetch("Employee", "NOT (badge != 11 AND badge != 12) AND age > 10") {
      """
      filter age > 10
      └ index Employee.badge: badge IN 2 values · 2 rows
      """
    } rows: {
      "e011"
    }
  }

  @Test("Alternatives on different properties are a union of index lookups")
  func differentPropertiesAreAUnion() throws {
    try assertFetch("Employee", "badge == 17 OR age > 98 AND name BEGINSWITH 'e1'") {
      """
      filter badge == 17 OR (age > 98 AND name BEGINSWITH "e1")
      └ union · 9 rows
        ├ index Employee.badge: badge == 17 · 1 row
        └ index Person.age: age >= 99 · 8 rows
      """
    } rows: {
      "e016 e199"
    }
  }

  /// If an access path covers only a part of an alternative, the rest is evaluated on the record.
  @Test("Alternatives that their access paths cover only in part are checked on the record")
  func alternativesAreCheckedByTheRecordWhereTheirAccessPathsStateLess() throws {
    try assertFetch(
      "Employee", "badge == 17 OR age == 98 AND plain == nil AND name ENDSWITH '98'"
    ) {
      """
      filter badge == 17 OR (age == 98 AND plain == nil AND name ENDSWITH "98")
      └ union · 9 rows
        ├ index Employee.badge: badge == 17 · 1 row
        └ index Person.age: age == 98 · 8 rows
      """
    } rows: {
      "e016 e098 e198 e298 e398 e498 e598 e698 e798"
    }
  }

  @Test("A union that covers most rows is replaced by a scan")
  func aUnionOfMostRowsIsAScan() throws {
    try assertFetch("Employee", "badge < 3 OR age > 20 AND age < 90", limit: 3) {
      """
      limit 3
      └ filter badge < 3 OR (age > 20 AND age < 90)
        └ scan Employee · 800 rows
      """
    } rows: {
      "e000 e001 e021"
    }
  }

  // MARK: Intersections

  @Test("Two unselective access paths may be selective together")
  func twoAccessPathsThatFindManyMayFindFewTogether() throws {
    let mentors = (90..<110).map { "p\($0 < 100 ? "0" : "")\($0)" }
    let marks = mentors.map { _ in "%@" }.joined(separator: ", ")
    try assertFetch("Employee", "mentor IN {\(marks)} AND age > 97", mentors) {
      """
      filter mentor IN {\((91..<111).map { "Person \($0)" }.joined(separator: ", "))}
      └ index Person.age: age >= 98 · 16 rows
      """
    } rows: {
      "e098 e099 e298 e299 e498 e499 e698 e699"
    }
    try assertFetch("Employee", "mentor IN {\(marks)} AND age > 90", mentors, limit: 3) {
      """
      limit 3
      └ intersection · 36 rows
        ├ relationship Person.~Employee.mentor: of 20 objects · 80 rows
        └ index Person.age: age >= 91 · 72 rows
      """
    } rows: {
      "e091 e092 e093"
    }
  }

  // MARK: Relationships

  @Test("A condition on related objects is evaluated on those objects first")
  func relatedObjectsAreFoundFirst() throws {
    try assertFetch("Employee", "company.name == 'c03' AND badge < 50") {
      """
      filter badge < 50
      └ index Employee.byCompanyAge: company among 1 object · 40 rows
        └ index Company.name: name == "c03" · 1 row
      """
    } rows: {
      "e003 e023 e043"
    }
    try assertFetch("Employee", "mentor.age == 3 AND mentor.name ENDSWITH '103'") {
      """
      relationship Person.~Employee.mentor: of 2 objects · 4 rows
      └ filter name ENDSWITH "103" · 2 rows
        └ index Person.age: age == 3 · 10 rows
      """
    } rows: {
      "e103 e303 e503 e703"
    }
  }

  @Test("Conditions on related objects narrow a compound index")
  func relatedConditionsNarrowCompoundIndexes() throws {
    try assertFetch("Employee", "age < 20 AND (company.name == 'c03' OR company.name == 'c04')") {
      """
      index Employee.byCompanyAge: company among 2 objects, age <= 19 · 16 rows
      └ index Company.name: name IN 2 values · 2 rows
      """
    } rows: {
      "e003 e004 e103 e104 e203 e204 e303 e304 e403 e404 e503 e504 e603 e604 e703 e704"
    }
  }

  @Test("If no related object fulfills a condition, nothing else is read")
  func whatNoRelatedObjectFulfilsIsNotLookedFor() throws {
    try assertFetch("Employee", "company.name == 'nobody' AND age > 3") {
      """
      nothing · 0 rows
      └ index Company.name: name == "nobody" · 0 rows
      """
    } rows: {
      ""
    }
  }

  @Test("A condition that `nil` fulfills is evaluated per row")
  func conditionsThatNilFulfilsAreAskedOfTheRow() throws {
    try assertFetch("Employee", "company.name != 'c03' AND name BEGINSWITH 'e00'") {
      """
      filter company.name != "c03"
      └ index Person.name: name BEGINSWITH "e00" · 10 rows
      """
    } rows: {
      "e000 e001 e002 e004 e005 e006 e007 e008 e009"
    }
    try assertFetch("Employee", "company.city == nil", limit: 1) {
      """
      limit 1
      └ filter company.city == nil
        └ scan Employee · 800 rows
      """
    } rows: {
      "e000"
    }
  }

  @Test("Conditions on members are evaluated on the members first")
  func anyMemberIsFoundBeforeItsOwner() throws {
    try assertFetch("Company", "ANY employees.age > 98") {
      """
      relationship Employee.company: of 8 objects · 1 row
      └ index Person.age: age >= 99 · 8 rows
      """
    } rows: {
      "c19"
    }
    try assertFetch(
      "Company", "SUBQUERY(employees, $x, $x.age > 98 AND $x.badge < 200).@count > 0"
    ) {
      """
      relationship Employee.company: of 1 object · 1 row
      └ filter badge < 200 · 1 row
        └ index Person.age: age >= 99 · 8 rows
      """
    } rows: {
      "c19"
    }
    try assertFetch("Company", "NONE employees.age < 99 AND name > 'c17'") {
      """
      filter NOT ANY employees (age < 99)
      └ index Company.name: name > "c17" · 2 rows
      """
    } rows: {
      ""
    }
  }

  @Test("Conditions are evaluated across several relationships")
  func relationshipsAreCrossedToAnyDepth() throws {
    try assertFetch("Employee", "ANY company.employees.badge == 17", limit: 3) {
      """
      limit 3
      └ index Employee.byCompanyAge: company among 1 object · 40 rows
        └ relationship Employee.company: of 1 object · 1 row
          └ index Employee.badge: badge == 17 · 1 row
      """
    } rows: {
      "e016 e036 e056"
    }
    // A condition that compares a member with its owner is evaluated per row.
    try assertFetch("Company", "SUBQUERY(employees, $x, $x.name == name).@count > 0") {
      """
      filter SUBQUERY(employees, name == ^name).@count > 0
      └ scan Company · 20 rows
      """
    } rows: {
      ""
    }
  }

  // MARK: Explaining

  @Test("Rows that can't be counted are estimated, without running anything")
  func whatOnlyRunningTellsIsEstimated() throws {
    let people = try PlannedPeople()
    let plans = [
      "badge == 17 OR age > 98": """
      union · about 9 rows
      ├ index Employee.badge: badge == 17 · 1 row
      └ index Person.age: age >= 99 · 8 rows
      """,
      "company.name == 'c03' AND badge < 50": """
      filter badge < 50
      └ index Employee.byCompanyAge: company among 1 object · about 40 rows
        └ index Company.name: name == "c03" · 1 row
      """,
      "mentor.age == 3 AND mentor.name ENDSWITH '103'": """
      relationship Person.~Employee.mentor: of about 3 objects · about 2 rows
      └ filter name ENDSWITH "103" · about 3 rows
        └ index Person.age: age == 3 · 10 rows
      """,
    ]
    for (text, plan) in plans {
      #expect(try people.explain("Employee", text).description == plan)
    }
    try people.finish()
  }

  // MARK: Asking

  private func assertFetch(
    _ entity: String, _ text: String?, _ names: [String] = [], sortKeys: [SortKey] = [],
    limit: Int = 0, plan: () -> String, rows: () -> String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let people = try PlannedPeople()
    try people.expect(
      entity, text, names, sortKeys: sortKeys, limit: limit, plan: plan(), rows: rows(),
      sourceLocation: sourceLocation)
    try people.finish()
  }
}
