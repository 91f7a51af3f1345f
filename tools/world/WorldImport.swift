import ArborData

/// Inserts the documents of `iso-codes` as objects, through the interface that any program has.
struct WorldImport {
  let manager: DataManager
  let report: Report

  /// Countries with their subdivisions, each below its parent; currencies; languages.
  func insert(_ codes: ISOCodes) throws {
    let total =
      codes.countries.count + codes.subdivisions.count + codes.currencies.count
      + codes.languages.count
    var done = 0
    func count() {
      done += 1
      report.progress(done, of: total, "records")
    }
    var countries: [String: ManagedObject] = [:]
    for code in codes.countries {
      countries[code.alpha_2] = try insert(code)
      count()
    }
    var subdivisions: [String: ManagedObject] = [:]
    for code in codes.subdivisions {
      let subdivision = try manager.insert("Subdivision")
      subdivision["code"] = code.code
      subdivision["name"] = code.name
      subdivision["type"] = code.type
      subdivision["country"] = countries[code.country]
      subdivisions[code.code] = subdivision
      count()
    }
    for code in codes.subdivisions {
      guard let parent = code.parentCode else { continue }
      subdivisions[code.code]?["parent"] = subdivisions[parent]
    }
    for code in codes.currencies {
      let currency = try manager.insert("Currency")
      currency["alpha3"] = code.alpha_3
      currency["name"] = code.name
      currency["numeric"] = Int(code.numeric)
      count()
    }
    for code in codes.languages {
      try insert(code)
      count()
    }
  }

  private func insert(_ code: ISOCodes.Country) throws -> ManagedObject {
    let country = try manager.insert("Country")
    country["alpha2"] = code.alpha_2
    country["alpha3"] = code.alpha_3
    country["name"] = code.name
    country["numeric"] = Int(code.numeric)
    country["flag"] = code.flag
    country["officialName"] = code.official_name
    country["commonName"] = code.common_name
    return country
  }

  private func insert(_ code: ISOCodes.Language) throws {
    let language = try manager.insert("Language")
    language["alpha3"] = code.alpha_3
    language["alpha2"] = code.alpha_2
    language["name"] = code.name
    language["scope"] = code.scope
    language["type"] = code.type
    language["invertedName"] = code.inverted_name
    language["commonName"] = code.common_name
    language["bibliographic"] = code.bibliographic
  }
}
