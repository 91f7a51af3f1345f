#if canImport(FoundationEssentials)
  // The standard library normalizes strings to compare them, but publishes the results only to
  // Foundation. Foundation composes some supplementary characters with marks that follow them as if
  // they were other characters.
  @_spi(_Unicode) internal import Swift

  extension String {
    /// The canonical decomposition, NFD.
    var decomposed: String.UnicodeScalarView { String.UnicodeScalarView(_nfd) }
    /// The canonical composition, NFC.
    var composed: String { String(String.UnicodeScalarView(_nfc)) }
  }
#else
  internal import ArborFoundation

  extension String {
    /// The canonical decomposition, NFD.
    var decomposed: String.UnicodeScalarView {
      decomposedStringWithCanonicalMapping.unicodeScalars
    }
    /// The canonical composition, NFC.
    var composed: String { precomposedStringWithCanonicalMapping }
  }
#endif
