extension PredicatePrinter {
  func text(of path: KeyPathNode) -> String {
    if path.parts.isEmpty { return "SELF" }
    return path.parts.map { part in
      switch part {
      case .argument: "%K"
      case .collectionOperator(let name, _): name
      case .name(let name, _): (PredicateKeyword(spelledBy: name) == nil ? "" : "#") + escaped(name)
      }
    }.joined(separator: ".")
  }

  /// A name with whatever no identifier holds escaped.
  func escaped(_ name: String, isVariable: Bool = false) -> String {
    var escaped = ""
    for scalar in name.unicodeScalars {
      let isPlain =
        scalar == "_" || (isVariable && scalar == "$")
        || (scalar.isASCII
          ? isLetter(scalar) || (isDigit(scalar) && !escaped.isEmpty)
          : scalar.properties.isXIDStart || (scalar.properties.isXIDContinue && !escaped.isEmpty))
      if isPlain {
        escaped.unicodeScalars.append(scalar)
      } else if scalar.value <= 0xFFFF {
        escaped += PredicateLiteral.escape(scalar.value)
      } else {
        escaped += "\\"
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}
