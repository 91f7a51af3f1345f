import ArgumentParser
import Foundation

/// The option of verbs that print sizes.
struct SizeArguments: ParsableArguments {
  @Flag(help: "Print sizes as exact numbers of bytes.")
  var bytes = false

  func text(_ size: Int) -> String { bytes ? String(size) : SizeText.text(size) }

  /// The title of a column of sizes.
  var title: String { bytes ? "bytes" : "size" }
}

/// Sizes in binary units.
enum SizeText {
  private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// Returns a size with one decimal, rounded down, such as `4.0 KiB`. Sizes below 1 KiB are exact.
  static func text(_ bytes: Int) -> String {
    if bytes < 1024 { return "\(bytes) B" }
    var value = Double(bytes)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return "\(Int(value)).\(Int(value * 10) % 10) \(units[unit])"
  }

  static func withoutUnit(_ text: String) -> String {
    guard let unit = units.first(where: { text.hasSuffix(" \($0)") }) else { return text }
    return String(text.dropLast(unit.count + 1))
  }
}
