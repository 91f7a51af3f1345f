import ArborData
import Foundation

/// The documents of the package `iso-codes`, and the entities of their objects.
enum ISOCodes {
  /// The documents in import order: countries before the subdivisions that refer to them.
  static let standards = [
    (number: "3166-1", entity: "Country"), (number: "3166-2", entity: "Subdivision"),
    (number: "4217", entity: "Currency"), (number: "639-3", entity: "Language"),
  ]

  /// The folders in which Debian, Homebrew and self-built packages install the documents.
  static let folders = ["/usr/share", "/opt/homebrew/share", "/usr/local/share"]
    .map { URL(filePath: $0).appending(path: "iso-codes/json") }
}
