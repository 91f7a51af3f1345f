import ArborModel

/// Tasks with an index of every kind.
enum IndexKindsModel {
  static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Task") {
        Attribute("title", .string, .optional)
        Attribute("body", .string, .optional)
        Attribute("rank", .integer32, .optional)
        Attribute("isDone", .boolean, .default(false))
        Index("byTitle", on: .folded("title"), "rank")
        Index("open", on: "rank", where: "isDone == NO")
        Index("onceOpen", on: "-rank", where: "isDone == NO AND rank > 100", isUnique: true)
        Index("onceTitle", on: .folded("body"), where: "rank == 7", isUnique: true)
        Index("pair", on: "title", "rank", where: "isDone == YES", isUnique: true)
        Index(text: "body")
      }
    }
  }
}
