import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser

/// The arguments of verbs that query objects.
struct QueryArguments: ParsableArguments {
  @Argument(help: "The entity of the objects, including its subentities.")
  var entity: String

  @Argument(help: "A predicate to match, such as \"age > 40 AND name BEGINSWITH 'A'\".")
  var predicate: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The key paths to sort by, with a minus sign for descending order.",
      valueName: "key,-key"))
  var sort: [String] = []

  @Option(help: "The maximum number of rows.")
  var limit: Int?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be greater than 0.") }
  }

  func request(in file: InspectedFile) throws -> FetchRequest<ManagedObject> {
    let entity = try file.entity(entity)
    var request = FetchRequest<ManagedObject>(
      entity: entity.name, predicate: predicate.map { FetchPredicate(stringLiteral: $0) },
      sortKeys: CommaList.parts(of: sort).map { SortKey(stringLiteral: $0) })
    request.fetchLimit = limit ?? 0
    return request
  }
}

/// Lists on the command line: `name,count(employees),-age`.
enum CommaList {
  /// Returns the elements of lists, split at commas outside parentheses, brackets and quotes. Omits
  /// empty ones.
  static func parts(of lists: [String]) -> [String] {
    lists.flatMap { list in
      var parts = [""]
      var depth = 0
      var quote: Character?
      for character in list {
        if let open = quote {
          if character == open { quote = nil }
        } else if character == "'" || character == "\"" {
          quote = character
        } else if "([{".contains(character) {
          depth += 1
        } else if ")]}".contains(character) {
          depth -= 1
        } else if character == ",", depth == 0 {
          parts.append("")
          continue
        }
        parts[parts.count - 1].append(character)
      }
      return parts.map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
        .filter { !$0.isEmpty }
    }
  }
}
