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
    precondition(!error.message.isEmpty && error.location != nil, "an error without a place")
  }
  let untrusted = ParsedPredicate.reading(text, limits: .untrusted)
  if case .success = untrusted.outcome, case .failure(let error) = shape.outcome {
    preconditionFailure("allowed from outside only: \(error)")
  }
  // As a format with the required number of arguments, some of which are key paths.
  _ = try? FetchPredicate(format: text, arguments: [])
  if case .success = untrusted.outcome {
    let variables = Dictionary(uniqueKeysWithValues: untrusted.variables.map { ($0, 1) })
    let predicate = FetchPredicate(shape: untrusted, arguments: []).substituting(variables)
    precondition(predicate.variables.isEmpty, "a variable that was given a value is left")
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
    preconditionFailure("what was printed does not parse: \(text)")
  }
  precondition(again == node, "what was printed parses to another tree: \(text)")
  precondition(again.hashValue == node.hashValue, "equal trees have different hashes")
  precondition(printer.text(of: again) == text, "the text is not canonical: \(text)")
}
