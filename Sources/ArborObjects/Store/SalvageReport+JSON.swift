public import ArborJSON

extension SalvageReport {
  /// The report as JSON: an object with the names of the properties, objects by their IDs.
  public var json: JSONValue {
    var report = JSONObject()
    report["state"] = .string(state.rawValue)
    report["sequence"] = sequence.map { number(Int(clamping: $0)) } ?? .null
    report["isSequenceCertain"] = .bool(isSequenceCertain)
    report["entities"] = .array(entities.map(\.json))
    report["doubtful"] = .array(doubtful.map { .string("\($0)") })
    report["leftOutCount"] = number(leftOutCount)
    report["leftOut"] = .array(leftOut.map { .string("\($0)") })
    report["lostLinkCount"] = number(lostLinkCount)
    report["lostLinks"] = .array(lostLinks.map(\.json))
    report["lostBinaryCount"] = number(lostBinaryCount)
    report["lostBinaries"] = .array(lostBinaries.map(\.json))
    report["doubtfulMetadata"] = .array(doubtfulMetadata.map { .string($0) })
    report["isModelGiven"] = .bool(isModelGiven)
    report["isCatalogMade"] = .bool(isCatalogMade)
    report["isUniqueIDLost"] = .bool(isUniqueIDLost)
    return .object(report)
  }
}

extension SalvageReport.Entity {
  fileprivate var json: JSONValue {
    var entity = JSONObject()
    entity["name"] = .string(name)
    entity["kept"] = number(kept)
    entity["doubtful"] = number(doubtful)
    entity["lost"] = lost.map(number) ?? .null
    return .object(entity)
  }
}

extension SalvageReport.LostLink {
  fileprivate var json: JSONValue {
    var link = JSONObject()
    link["owner"] = .string("\(owner)")
    link["relationship"] = .string(relationship)
    link["target"] = .string("\(target)")
    return .object(link)
  }
}

extension SalvageReport.LostBinary {
  fileprivate var json: JSONValue {
    var binary = JSONObject()
    binary["owner"] = .string("\(owner)")
    binary["attribute"] = .string(attribute)
    return .object(binary)
  }
}

private func number(_ count: Int) -> JSONValue { .number(JSONNumber(Int64(count))) }
