import ArborData
import Foundation

/// A country of the gazetteer.
final class Country: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Country.self) }
  private static let description = EntityDescription(
    name: "Country", className: "Country",
    attributes: [
      AttributeDescription(name: "code", type: .string, defaultValue: ""),
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
    ],
    relationships: [
      RelationshipDescription(
        name: "cities", destination: "City", inverse: "country", isToMany: true)
    ],
    uniquenessConstraints: [["code"]])

  var code: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var name: String {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
}

/// A city of the gazetteer, with four indexes, that of its country, and one for full-text search.
final class City: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: City.self) }
  private static let description = EntityDescription(
    name: "City", className: "City",
    attributes: [
      AttributeDescription(name: "geonameID", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "name", type: .string, defaultValue: "", isIndexed: true),
      AttributeDescription(name: "asciiName", type: .string, defaultValue: ""),
      AttributeDescription(name: "alternateNames", type: .string, defaultValue: ""),
      AttributeDescription(name: "latitude", type: .double, defaultValue: 0),
      AttributeDescription(name: "longitude", type: .double, defaultValue: 0),
      AttributeDescription(name: "featureCode", type: .string, defaultValue: ""),
      AttributeDescription(name: "adminCode", type: .string, defaultValue: ""),
      AttributeDescription(name: "population", type: .integer64, defaultValue: 0, isIndexed: true),
      AttributeDescription(name: "elevation", type: .integer64, isOptional: true),
      AttributeDescription(name: "timeZone", type: .string, defaultValue: ""),
      AttributeDescription(
        name: "modified", type: .date, defaultValue: .date(Date(timeIntervalSince1970: 0))),
    ],
    relationships: [
      RelationshipDescription(name: "country", destination: "Country", inverse: "cities")
    ],
    fetchIndexes: [
      FetchIndexDescription(
        name: "byPosition",
        elements: [
          FetchIndexDescription.Element("latitude"),
          FetchIndexDescription.Element("longitude"),
        ]),
      FetchIndexDescription(
        name: "words",
        elements: [FetchIndexDescription.Element("alternateNames", kind: .text)]),
    ],
    uniquenessConstraints: [["geonameID"]])

  var geonameID: Int64 { _attribute(0) }
  var name: String { _attribute(1) }
  var population: Int64 { _attribute(8) }

  /// Sets the properties from a row of the data.
  func fill(from row: GazetteerData.CityRow, country: Country?) {
    _setAttribute(0, row.geonameID)
    _setAttribute(1, row.name)
    _setAttribute(2, row.asciiName)
    _setAttribute(3, row.alternateNames)
    _setAttribute(4, row.latitude)
    _setAttribute(5, row.longitude)
    _setAttribute(6, row.featureCode)
    _setAttribute(7, row.adminCode)
    _setAttribute(8, row.population)
    _setAttribute(9, row.elevation)
    _setAttribute(10, row.timeZone)
    _setAttribute(11, Date(timeIntervalSince1970: row.modified))
    _setToOne(0, country)
  }
}
