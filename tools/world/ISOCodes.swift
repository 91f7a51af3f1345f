import Foundation

/// The documents of the package `iso-codes` that the demonstration reads.
struct ISOCodes {
  struct Country: Decodable {
    let alpha_2: String
    let alpha_3: String
    let name: String
    let numeric: String
    let flag: String?
    let official_name: String?
    let common_name: String?
  }

  struct Subdivision: Decodable {
    let code: String
    let name: String
    let type: String
    let parent: String?

    var country: String { String(code.prefix(2)) }

    /// The parent's whole code; some documents leave the country out of it.
    var parentCode: String? {
      parent.map { $0.contains("-") ? $0 : "\(country)-\($0)" }
    }
  }

  struct Currency: Decodable {
    let alpha_3: String
    let name: String
    let numeric: String
  }

  struct Language: Decodable {
    let alpha_3: String
    let alpha_2: String?
    let name: String
    let scope: String
    let type: String
    let inverted_name: String?
    let common_name: String?
    let bibliographic: String?
  }

  let countries: [Country]
  let subdivisions: [Subdivision]
  let currencies: [Currency]
  let languages: [Language]

  /// Reads the documents of a folder.
  init(folder: URL) throws {
    countries = try Self.read("3166-1", in: folder)
    subdivisions = try Self.read("3166-2", in: folder)
    currencies = try Self.read("4217", in: folder)
    languages = try Self.read("639-3", in: folder)
  }

  /// Where Debian, Homebrew and self-built packages put the documents.
  static let folders = ["/usr/share", "/opt/homebrew/share", "/usr/local/share"]
    .map { URL(filePath: $0).appending(path: "iso-codes/json") }

  /// A document is an object with one key, the number of its standard, and a list below it.
  private static func read<Element: Decodable>(
    _ standard: String, in folder: URL
  ) throws -> [Element] {
    let data = try Data(contentsOf: folder.appending(path: "iso_\(standard).json"))
    return try JSONDecoder().decode([String: [Element]].self, from: data)[standard] ?? []
  }
}
