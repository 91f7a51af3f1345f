public import ArborJSON

extension SalvageReport {
  /// The report as a JSON object. Its keys are the names of the properties, and objects are
  /// represented by their IDs.
  public var json: JSONValue {
    [
      "state": .string(state.rawValue),
      "sequence": sequence.map { number(Int(clamping: $0)) } ?? .null,
      "isSequenceCertain": .bool(isSequenceCertain),
      "entities": .array(entities.map(\.json)),
      "doubtful": .array(doubtful.map { .string("\($0)") }),
      "leftOutCount": number(leftOutCount),
      "leftOut": .array(leftOut.map { .string("\($0)") }),
      "lostLinkCount": number(lostLinkCount),
      "lostLinks": .array(lostLinks.map(\.json)),
      "lostBinaryCount": number(lostBinaryCount),
      "lostBinaries": .array(lostBinaries.map(\.json)),
      "doubtfulMetadata": .array(doubtfulMetadata.map { .string($0) }),
      "isModelGiven": .bool(isModelGiven), "isCatalogMade": .bool(isCatalogMade),
      "isUniqueIDLost": .bool(isUniqueIDLost),
    ]
  }
}

extension SalvageReport.Entity {
  fileprivate var json: JSONValue {
    [
      "name": .string(name), "kept": number(kept), "doubtful": number(doubtful),
      "lost": lost.map(number) ?? .null,
    ]
  }
}

extension SalvageReport.LostLink {
  fileprivate var json: JSONValue {
    [
      "owner": .string("\(owner)"), "relationship": .string(relationship),
      "target": .string("\(target)"),
    ]
  }
}

extension SalvageReport.LostBinary {
  fileprivate var json: JSONValue {
    [
      "owner": .string("\(owner)"),
      "attribute": .string(attribute),
    ]
  }
}

private func number(_ count: Int) -> JSONValue { .number(JSONNumber(Int64(count))) }
