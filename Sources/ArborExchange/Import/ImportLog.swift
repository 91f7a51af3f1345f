import Logging

/// What an import has to say beside its result.
enum ImportLog {
  private static let logger = Logger(label: "ArborData.import")

  /// Says that a model asks for a merge policy that there is not.
  static func warnOfPolicy(_ word: String, of relationship: String, _ entity: String) {
    logger.warning(
      "Unknown MergePolicy; Replace is used. Write Replace, Merge or MergeAndPrune.",
      metadata: [
        "entity": "\(entity)", "relationship": "\(relationship)", "policy": "\(word)",
      ])
  }
}
