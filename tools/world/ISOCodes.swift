import ArborData
import Foundation

/// The documents of the package `iso-codes`, and the entities whose objects they hold.
enum ISOCodes {
  /// In the order of import: subdivisions name countries.
  static let standards = [
    (number: "3166-1", entity: "Country"), (number: "3166-2", entity: "Subdivision"),
    (number: "4217", entity: "Currency"), (number: "639-3", entity: "Language"),
  ]

  /// Where Debian, Homebrew and self-built packages put the documents.
  static let folders = ["/usr/share", "/opt/homebrew/share", "/usr/local/share"]
    .map { URL(filePath: $0).appending(path: "iso-codes/json") }
}
