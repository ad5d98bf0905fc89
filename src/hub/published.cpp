#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/json.hpp"
#include "base/utf8.hpp"
#include "hub/downloads.hpp"
#include "hub/settings.hpp"
#include "hub/source.hpp"
#include "hub/url.hpp"
#include "kernelpack/hub.hpp"

namespace kernelpack {
namespace {

constexpr int kMostPages = 100;

bool is_id_of(std::string_view id, const std::string& organisation) {
  return id.starts_with(organisation + '/') && hub::is_repository_name(id.substr(organisation.size() + 1));
}

/// A page is an array of objects with the member `id`. Ids of others, if any, are passed over.
void add_page(std::string text, const std::string& organisation, std::vector<std::string>& ids) {
  const json::Document document = json::parse(std::move(text), "the listing", {}, ErrorKind::io);
  if (!document.root.is_array()) throw Error(ErrorKind::io, "The listing of the Hub is not a JSON array");
  for (const json::Value& entry : document.root.items()) {
    const json::Value* id = entry.find("id");
    if (id == nullptr || !id->is_string())
      throw Error(ErrorKind::io, "An entry in the listing of the Hub has no id");
    if (is_id_of(id->string(), organisation)) ids.push_back(id->string());
  }
}

}  // namespace

std::vector<std::string> list_published(std::string_view organisation, const GetOptions& options) {
  const std::string name(organisation);
  if (!hub::is_repository_name(name))
    throw Error(ErrorKind::contract, fmt::format("The organisation ({}) is no name of the Hub", clip(name)));
  const hub::Settings settings = hub::read_settings(options);
  if (settings.offline)
    throw Error(ErrorKind::io,
                "The packages of the Hub cannot be listed, because no request may be made offline", name);
  const std::string token = hub::token_for(hub::Repository{name, {}, {}, {}}, options);
  hub::Downloads downloads(settings, name, options);
  std::string url = fmt::format("{}/api/kernels?author={}&limit=500", settings.endpoint, name);
  const auto endpoint = hub::origin_of(url);
  std::vector<std::string> ids;
  for (int page = 0; !url.empty(); ++page) {
    if (page == kMostPages)
      throw Error(ErrorKind::limit,
                  fmt::format("The listing of the Hub has more pages than the budget ({})", kMostPages));
    if (hub::origin_of(url) != endpoint)
      throw Error(ErrorKind::io, "The next page of the listing is on another server", hub::display(url));
    hub::HttpAnswer answer = downloads.get({"listing", {url, token, Budgets{}.json_bytes, std::nullopt}});
    try {
      add_page(std::move(answer.body), name, ids);
    } catch (Error& error) {
      throw error.set_where(error.where().empty() ? hub::display(url) : error.where());
    }
    url = answer.next;
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace kernelpack
