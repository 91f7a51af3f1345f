import ArborData
import TestLength
import TestSupport
import Testing

/// Kinds of model changes that no other suite covers for a library of books: each is migrated,
/// reverted, and undone by another migration.
@Suite("Kinds of model changes") struct MigrationKindsTests {
  @Test(
    "Each kind of change is migrated and undone by another migration",
    arguments: MigrationKind.attributes + MigrationKind.relationships + MigrationKind.entities)
  func objectsGoThereAndBack(_ kind: MigrationKind) throws {
    var (former, newer) = (try Library.model(), try Library.model())
    try kind.former(&former)
    try kind.newer(&newer)
    var plain = Library.objects(TestLength.of(40, long: 10_000))
    kind.prepare(&plain)
    let store = try EvolvingStore(former, plain)
    try store.evolve(
      to: newer, kind.options(from: former, to: newer, isBack: false), kind.there)
    try store.evolve(to: former, kind.options(from: newer, to: former, isBack: true), kind.back)
    #expect(store.plain == plain)
  }
}
