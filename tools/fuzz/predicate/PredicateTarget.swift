/// Parses text as a predicate with every API, and checks invariants of any input.
///
/// - The printed form of a valid predicate parses to the same tree and prints the same again.
/// - An error contains the reason and the position.
/// - Text that is valid under the limits for untrusted text is valid under the standard limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func readPredicate(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  let shape = ParsedPredicate.reading(text)
  switch shape.outcome {
  case .success(let node): checkPrinting(of: node)
  case .failure(let error):
    precondition(!error.message.isEmpty && error.location != nil, "No message or no location.")
  }
  let untrusted = ParsedPredicate.reading(text, limits: .untrusted)
  if case .success = untrusted.outcome, case .failure(let error) = shape.outcome {
    preconditionFailure("Valid under the untrusted limits, but not the standard ones: \(error)")
  }
  // As a format with the required number of arguments, some of which are key paths.
  _ = try? FetchPredicate(format: text, arguments: [])
  if case .success = untrusted.outcome {
    let variables = Dictionary(uniqueKeysWithValues: untrusted.variables.map { ($0, 1) })
    let predicate = FetchPredicate(shape: untrusted, arguments: []).substituting(variables)
    precondition(predicate.variables.isEmpty, "A substituted variable is still unbound.")
    if case .success(let node) = predicate.resolved { checkPrinting(of: node) }
  }
  return 0
}

private func checkPrinting(of node: PredicateNode) {
  let printer = PredicatePrinter { _ in "%@" }
  let text = printer.text(of: node)
  // Canonical text may be longer and nested more deeply than its source.
  let limits = PredicateLimits(maximumLength: .max, maximumDepth: 200, maximumTerms: .max)
  guard case .success(let again) = ParsedPredicate.reading(text, limits: limits).outcome else {
    preconditionFailure("The printed predicate cannot be parsed: \(text)")
  }
  precondition(again == node, "The printed predicate parses to a different tree: \(text)")
  precondition(again.hashValue == node.hashValue, "Equal trees have different hashes: \(text)")
  precondition(printer.text(of: again) == text, "The printed predicate is not canonical: \(text)")
}
