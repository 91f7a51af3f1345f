import ArborData
import TestLength
import TestSupport
import Testing

/// The kinds of changes that applications make to their models and that no other suite makes on a
/// library of books: each there, with the way back by which it is reverted, and back as a change of
/// its own.
@Suite struct MigrationKindsTests {
  @Test(
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
