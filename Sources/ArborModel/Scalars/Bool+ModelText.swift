internal import Foundation

extension Bool {
  /// The flag that a text of a model's XML stands for, or nil for any other text.
  package init?(modelText text: String) {
    switch text.lowercased() {
    case "yes", "true", "1": self = true
    case "no", "false", "0": self = false
    default: return nil
    }
  }
}
