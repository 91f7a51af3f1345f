import ArborModel

/// A model of tasks with an index of every kind.
enum IndexKindsModel {
  static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Task") {
        AttributeDescription("title", .string, .optional)
        AttributeDescription("body", .string, .optional)
        AttributeDescription("rank", .integer32, .optional)
        AttributeDescription("isDone", .boolean, .default(false))
        FetchIndexDescription("byTitle", on: .folded("title"), "rank")
        FetchIndexDescription("open", on: "rank", where: "isDone == NO")
        FetchIndexDescription(
          "onceOpen", on: "-rank", where: "isDone == NO AND rank > 100", isUnique: true)
        FetchIndexDescription("onceTitle", on: .folded("body"), where: "rank == 7", isUnique: true)
        FetchIndexDescription("pair", on: "title", "rank", where: "isDone == YES", isUnique: true)
        FetchIndexDescription(text: "body")
      }
    }
  }
}
