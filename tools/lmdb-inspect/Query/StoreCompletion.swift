import ArborModel
import ArborStore
import ArgumentParser
import Foundation

/// Completes names of the store that the command line names.
enum StoreCompletion {
  static let entities = CompletionKind.custom { words, _, prefix in
    guard let store = store(in: words) else { return [] }
    return matching(prefix, store.schema.entities.map(\.name))
  }

  /// The completion of the last element of a list of properties, which may follow a minus sign.
  static let properties = CompletionKind.custom { words, _, prefix in
    guard let store = store(in: words),
      let entity = words.lazy.compactMap({ store.schema.entity(named: unquoted($0)) }).first
    else { return [] }
    let last = prefix.lastIndex(of: ",").map { prefix.index(after: $0) } ?? prefix.startIndex
    let sign = prefix[last...].hasPrefix("-") ? "-" : ""
    let names =
      entity.attributes.map(\.name)
      + entity.relationships.filter { !$0.isHidden }.map(\.name)
    return matching(
      prefix, names.map { prefix[..<last] + sign + $0 })
  }

  private static func matching(_ prefix: String, _ names: [String]) -> [String] {
    names.filter { $0.hasPrefix(unquoted(prefix)) }.sorted()
  }

  /// Opens the first word that names a store. Returns `nil` if none does.
  private static func store(in words: [String]) -> StoreEngine? {
    words.dropFirst().map(unquoted).lazy
      .filter { !$0.hasPrefix("-") && FileManager.default.fileExists(atPath: $0) }
      .compactMap { try? InspectedFile(path: $0, isImmutable: false).store }.first
  }

  /// Returns a word without quotes and escapes, because shells pass words as they were typed.
  private static func unquoted(_ word: String) -> String {
    word.trimmingCharacters(in: CharacterSet(charactersIn: "'\"")).replacing("\\ ", with: " ")
  }
}
