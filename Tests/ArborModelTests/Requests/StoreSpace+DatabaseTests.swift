import ArborModel
import Testing

@Suite struct StoreSpaceDatabaseTests {
  private func database(
    _ kind: StoreSpace.Database.Kind, _ entity: String? = nil, _ name: String? = nil,
    pages: Int = 2, fill: Double? = nil, isEstimated: Bool = false
  ) -> String {
    StoreSpace.Database(
      kind: kind, entity: entity, name: name, storedName: "x/y", entries: pages - 1, pages: pages,
      bytes: pages * 4096, fill: fill, isEstimated: isEstimated
    ).description
  }

  @Test("The description of a database contains its contents and size")
  func saysWhatItHolds() {
    #expect(
      database(.records, "Employee", fill: 0.916) == "records of Employee · 1 entry · 2 pages"
        + " · 92 % full")
    #expect(
      database(.index, "Employee", "byName", pages: 1, isEstimated: true)
        == "index Employee.byName · 0 entries · about 1 page")
    #expect(
      database(.relationship, "Team", "members") == "relationship Team.members · 1 entry · 2 pages")
    #expect(database(.order, "Team", "members") == "order of Team.members · 1 entry · 2 pages")
    #expect(database(.largeBinaries, "Photo") == "large binaries of Photo · 1 entry · 2 pages")
    #expect(database(.history) == "history · 1 entry · 2 pages")
    #expect(database(.store) == "model and metadata · 1 entry · 2 pages")
  }
}
